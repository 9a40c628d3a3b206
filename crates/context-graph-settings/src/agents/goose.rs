//! Goose: our own plugin folder. It can block a call if the guard fails.
//!
//! No matcher is written: it would have to be a regular expression, and for an invalid one such as `*` the
//! rule is silently skipped.

use context_graph_events::agents::Agent;

use super::{AgentClient, Closes, FileKind, GROUPS, Hooks, Unit, UserFile};

pub(super) const CLIENT: AgentClient = AgentClient {
    agent: Agent::Goose,
    program: "goose",
    folder: ".config/goose",
    variable: Some(("XDG_CONFIG_HOME", "goose")),
    user_file: UserFile::BelowHome(".agents/plugins/context-graph/hooks/hooks.json"),
    project_file: ".agents/plugins/context-graph/hooks/hooks.json",
    kind: FileKind::Hooks(Hooks {
        form: GROUPS,
        events: same_names![
            SessionStart,
            UserPromptSubmit,
            PreToolUse,
            PostToolUse,
            PostToolUseFailure,
            Stop,
            SessionEnd
        ],
        timeout: "timeout",
        unit: Unit::Seconds,
        longest: None,
        closes: Some(("on_failure", Closes::Word("block"))),
        has_name: false,
    }),
};
