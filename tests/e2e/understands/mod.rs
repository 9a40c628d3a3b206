//! Every event of the client arrives, is decoded, recorded, and answered without an error.

mod scenarios;

pub use scenarios::our_hook;
use std::collections::BTreeSet;

use context_graph_events::EventName;

use crate::harness::Test;
use crate::lab::Lab;

/// A scenario that makes the client send these events.
struct Scenario {
    name: &'static str,
    play: fn() -> Lab,
    events: &'static [&'static str],
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "an ordinary turn",
        play: scenarios::an_ordinary_turn,
        events: &[
            "SessionStart",
            "InstructionsLoaded",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "CwdChanged",
            "MessageDisplay",
            "Stop",
            "SessionEnd",
        ],
    },
    Scenario { name: "setup", play: scenarios::setup, events: &["Setup"] },
    Scenario { name: "a command of the user", play: scenarios::a_command, events: &["UserPromptExpansion"] },
    Scenario { name: "tasks", play: scenarios::tasks, events: &["TaskCreated", "TaskCompleted"] },
    Scenario { name: "a subagent", play: scenarios::a_subagent, events: &["SubagentStart", "SubagentStop"] },
    Scenario { name: "compaction", play: scenarios::compaction, events: &["PreCompact", "PostCompact"] },
    Scenario {
        name: "compaction by itself",
        play: scenarios::compaction_by_itself,
        events: &["PreCompact", "PostCompact"],
    },
    Scenario {
        name: "a question for permission",
        play: scenarios::permission,
        events: &["PermissionRequest"],
    },
    Scenario { name: "permission denied", play: scenarios::permission_denied, events: &["PermissionDenied"] },
    Scenario {
        name: "a question of a server",
        play: scenarios::elicitation,
        events: &["Elicitation", "ElicitationResult", "Notification"],
    },
    Scenario {
        name: "another model and another folder",
        play: scenarios::model_and_folder,
        events: &["PreModelSwitch", "PostModelSwitch", "DirectoryAdded"],
    },
    Scenario { name: "files that change", play: scenarios::files, events: &["ConfigChange", "FileChanged"] },
    Scenario { name: "a worktree", play: scenarios::worktree, events: &["WorktreeCreate", "WorktreeRemove"] },
    Scenario { name: "an error of the API", play: scenarios::api_error, events: &["StopFailure"] },
    #[cfg(unix)]
    Scenario { name: "a teammate", play: crate::interactive::a_teammate, events: &["TeammateIdle"] },
];

pub fn all() -> Vec<Test> {
    let test = |scenario: &'static Scenario| {
        Test::new(format!("understands: {}", scenario.name), move || {
            let lab = (scenario.play)();
            let record = lab.whole_record();
            for event in scenario.events {
                record.assert_understood(event);
            }
        })
    };
    SCENARIOS.iter().map(test).collect()
}

/// No event is forgotten: the scenarios provoke every event that this version knows.
pub fn every_event_is_provoked() {
    let provoked: BTreeSet<&str> = SCENARIOS.iter().flat_map(|scenario| scenario.events).copied().collect();
    let known: BTreeSet<&str> = EventName::ALL.iter().map(|event| event.as_str()).collect();
    if cfg!(unix) {
        assert_eq!(provoked, known);
    }
}
