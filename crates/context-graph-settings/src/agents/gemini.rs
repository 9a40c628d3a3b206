//! Gemini CLI: `hooks` in its settings, with timeouts in milliseconds.

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, GROUPS, Hooks, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Gemini,
    program: "gemini",
    folder: ".gemini",
    variable: None,
    user_file: UserFile::InFolder("settings.json"),
    project_file: ".gemini/settings.json",
    kind: FileKind::Hooks(Hooks {
        form: GROUPS,
        // The events around the model are not used: each contains the whole conversation. `PreCompress` comes
        // before every request.
        events: &[
            ("SessionStart", EventName::SessionStart),
            ("BeforeAgent", EventName::UserPromptSubmit),
            ("BeforeTool", EventName::PreToolUse),
            ("AfterTool", EventName::PostToolUse),
            ("Notification", EventName::Notification),
            ("AfterAgent", EventName::Stop),
            ("SessionEnd", EventName::SessionEnd),
        ],
        timeout: "timeout",
        unit: Unit::Milliseconds,
        longest: None,
        closes: None,
        has_name: true,
    }),
};
