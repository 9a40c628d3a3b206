//! Gemini CLI: `hooks` in its settings, with times in milliseconds.

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use super::{AgentClient, GROUPS, Hooks, Kind, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Gemini,
    program: "gemini",
    folder: ".gemini",
    variable: None,
    user_file: UserFile::InFolder("settings.json"),
    project_file: ".gemini/settings.json",
    kind: Kind::Hooks(Hooks {
        form: GROUPS,
        // Those around the model carry the whole conversation each time, and `PreCompress` fires before every request.
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
