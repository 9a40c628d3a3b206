//! Cursor: `hooks.json`, flat, with a version. It can block a call if the guard fails.
//!
//! The events for shells, MCP and files are not used, because they would report a call twice: `preToolUse`
//! comes before every tool.

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use super::{AgentClient, Closes, FileKind, Hooks, Unit, UserFile};
use crate::form::{Form, Nesting};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Cursor,
    program: "cursor-agent",
    folder: ".cursor",
    variable: None,
    user_file: UserFile::InFolder("hooks.json"),
    project_file: ".cursor/hooks.json",
    kind: FileKind::Hooks(Hooks {
        form: Form {
            nesting: Nesting::Flat,
            command: "command",
            is_typed: false,
            has_version: true,
            is_one_verb: true,
        },
        events: &[
            ("sessionStart", EventName::SessionStart),
            ("beforeSubmitPrompt", EventName::UserPromptSubmit),
            ("preToolUse", EventName::PreToolUse),
            ("postToolUse", EventName::PostToolUse),
            ("postToolUseFailure", EventName::PostToolUseFailure),
            ("preCompact", EventName::PreCompact),
            ("subagentStart", EventName::SubagentStart),
            ("subagentStop", EventName::SubagentStop),
            ("stop", EventName::Stop),
            ("sessionEnd", EventName::SessionEnd),
        ],
        timeout: "timeout",
        unit: Unit::Seconds,
        longest: None,
        closes: Some(("failClosed", Closes::True)),
        has_name: false,
    }),
};
