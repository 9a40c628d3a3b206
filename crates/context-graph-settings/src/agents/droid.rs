//! Droid: `hooks` in its settings. It also reads a `hooks.json`, which needs the events one level higher;
//! otherwise it silently ignores them.

use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, GROUPS, Hooks, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Droid,
    program: "droid",
    folder: ".factory",
    variable: None,
    user_file: UserFile::InFolder("settings.json"),
    project_file: ".factory/settings.json",
    kind: FileKind::Hooks(Hooks {
        form: GROUPS,
        events: same_names![
            SessionStart,
            UserPromptSubmit,
            PreToolUse,
            PostToolUse,
            Notification,
            PreCompact,
            SubagentStop,
            Stop,
            SessionEnd
        ],
        timeout: "timeout",
        unit: Unit::Seconds,
        longest: None,
        closes: None,
        has_name: false,
    }),
};
