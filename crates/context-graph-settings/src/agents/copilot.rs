//! Copilot CLI: our own file in its `hooks` folder. The spelling of an event chooses the dialect. We use Copilot's
//! own spelling, because only that dialect has all events. A guard that crashes blocks the call; one that is late
//! does not.

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, Hooks, Unit, UserFile};
use crate::form::{Form, Nesting};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Copilot,
    program: "copilot",
    folder: ".copilot",
    variable: Some(("COPILOT_HOME", "")),
    user_file: UserFile::InFolder("hooks/context-graph.json"),
    project_file: ".github/hooks/context-graph.json",
    kind: FileKind::Hooks(Hooks {
        form: Form {
            nesting: Nesting::Flat,
            command: "bash",
            is_typed: true,
            has_version: true,
            is_one_verb: true,
        },
        events: &[
            ("sessionStart", EventName::SessionStart),
            ("userPromptSubmitted", EventName::UserPromptSubmit),
            ("preToolUse", EventName::PreToolUse),
            ("permissionRequest", EventName::PermissionRequest),
            ("postToolUse", EventName::PostToolUse),
            ("postToolUseFailure", EventName::PostToolUseFailure),
            ("notification", EventName::Notification),
            ("preCompact", EventName::PreCompact),
            ("subagentStart", EventName::SubagentStart),
            ("subagentStop", EventName::SubagentStop),
            ("agentStop", EventName::Stop),
            ("sessionEnd", EventName::SessionEnd),
        ],
        timeout: "timeoutSec",
        unit: Unit::Seconds,
        longest: None,
        closes: None,
        has_name: false,
    }),
};
