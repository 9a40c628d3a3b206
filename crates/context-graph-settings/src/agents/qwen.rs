//! Qwen Code: `hooks` in its settings, with timeouts in milliseconds.

use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, GROUPS, Hooks, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Qwen,
    program: "qwen",
    folder: ".qwen",
    variable: None,
    user_file: UserFile::InFolder("settings.json"),
    project_file: ".qwen/settings.json",
    kind: FileKind::Hooks(Hooks {
        form: GROUPS,
        events: same_names![
            SessionStart,
            UserPromptSubmit,
            PreToolUse,
            PermissionRequest,
            PostToolUse,
            PostToolUseFailure,
            Notification,
            PreCompact,
            PostCompact,
            SubagentStart,
            SubagentStop,
            Stop,
            SessionEnd
        ],
        timeout: "timeout",
        unit: Unit::Milliseconds,
        longest: None,
        closes: None,
        has_name: true,
    }),
};
