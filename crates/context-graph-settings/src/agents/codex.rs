//! Codex: `hooks.json` in its folder. It skips hooks that the user has not trusted; see [`super::trust`].

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use super::{AgentClient, FileKind, GROUPS, Hooks, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Codex,
    program: "codex",
    folder: ".codex",
    variable: Some(("CODEX_HOME", "")),
    user_file: UserFile::InFolder("hooks.json"),
    project_file: ".codex/hooks.json",
    kind: FileKind::Hooks(Hooks {
        form: GROUPS,
        // Left out: requests to the model, which need no decision, and interruptions, which tell us no more than `Stop`.
        events: same_names![
            SessionStart,
            UserPromptSubmit,
            PreToolUse,
            PermissionRequest,
            PostToolUse,
            PreCompact,
            PostCompact,
            SubagentStart,
            SubagentStop,
            Stop,
            SessionEnd
        ],
        timeout: "timeout",
        unit: Unit::Seconds,
        // Codex does not wait longer for this event, whatever the file says.
        longest: Some((EventName::SessionEnd, 3)),
        closes: None,
        has_name: false,
    }),
};
