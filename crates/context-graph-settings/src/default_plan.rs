//! The default plan.

use context_graph_events::EventName;

use crate::client::{ClientVersion, EXEC_FORM_SINCE, NEWEST_KNOWN_CLIENT, ON_FAILURE_SINCE, known_since};
use crate::missing::Missing;
use crate::ours::shell_word;
use crate::plan::{HookEntry, OnFailure, Plan, PlannedHook, StatusLine};

/// Options for the default plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOptions {
    /// Events to add to the default ones. `WorktreeCreate` is never added.
    pub also: Vec<EventName>,
    /// Events to leave out.
    pub without: Vec<EventName>,
    /// Whether a tool call is blocked if its guard does not answer.
    pub fail_closed: bool,
    /// For shared settings, on machines that may not have the program: what happens there. `None` for settings
    /// of this machine only.
    pub missing: Option<Missing>,
    /// Whether to add the status line.
    pub status_line: bool,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { also: Vec::new(), without: Vec::new(), fail_closed: true, missing: None, status_line: false }
    }
}

/// The default plan for a client: every event it knows, except those that [`left_out`] names. `WorktreeCreate`
/// is never included.
///
/// `PreToolUse` blocks on failure: otherwise crashing the guard would be a way around it. No other event
/// blocks. A failed `PermissionRequest` hook leaves the question to the user, which is already safe. On
/// `UserPromptSubmit` a failure would lose what the user typed. The other events decide nothing urgent.
///
/// The timeouts are only a backstop: the program enforces its own time budgets. They are twice the budget and
/// at least five seconds, because under load a process may start slowly, and a `PreToolUse` that is only slow
/// would block the call.
///
/// A client that cannot run a program without a shell gets a shell line. Without a version, the client is taken
/// to be [`NEWEST_KNOWN_CLIENT`]: clients update themselves, and recent ones skip what they do not know.
pub fn default_plan(binary: &str, client_version: Option<ClientVersion>, options: &PlanOptions) -> Plan {
    let client = client_version.unwrap_or(NEWEST_KNOWN_CLIENT);
    let hooks = EventName::ALL
        .into_iter()
        .filter(|event| known_since(*event) <= client)
        .filter(|event| left_out(*event).is_none() || options.also.contains(event))
        .filter(|event| *event != EventName::WorktreeCreate && !options.without.contains(event))
        .map(|event| PlannedHook { event, matcher: None, entry: entry(binary, client, event, options) })
        .collect();
    let status_line = options
        .status_line
        .then(|| StatusLine { command: format!("{} statusline", shell_word(binary)), padding: None });
    Plan { hooks, status_line }
}

/// Why an event is not in the default plan; `None` if it is.
pub const fn left_out(event: EventName) -> Option<&'static str> {
    match event {
        EventName::WorktreeCreate => Some("a hook for it replaces git and must create the worktree"),
        EventName::MessageDisplay => {
            Some("it fires often, the client waits for it, and only policies of your own can use it")
        }
        EventName::FileChanged => {
            Some("it watches nothing without a matcher, and what to watch is for you to say")
        }
        EventName::InstructionsLoaded => {
            Some("it fires for every instruction file at each start, and nothing waits for the answer")
        }
        _ => None,
    }
}

fn entry(binary: &str, client: ClientVersion, event: EventName, options: &PlanOptions) -> HookEntry {
    let args = arguments(event);
    let (command, args) = if let Some(missing) = options.missing {
        (missing.line(event, &args), None)
    } else if client >= EXEC_FORM_SINCE {
        (binary.to_owned(), Some(args.map(str::to_owned).to_vec()))
    } else {
        (format!("{} {}", shell_word(binary), args.join(" ")), None)
    };
    let blocks = options.fail_closed
        && options.missing != Some(Missing::GoOn)
        && event == EventName::PreToolUse
        && client >= ON_FAILURE_SINCE;
    HookEntry {
        command,
        args,
        timeout: timeout_seconds(event),
        on_failure: blocks.then_some(OnFailure::Block),
        status_message: None,
    }
}

/// The program's arguments for an event.
pub(crate) fn arguments(event: EventName) -> [&'static str; 3] {
    ["hooks", verb(event), "--stdin"]
}

fn verb(event: EventName) -> &'static str {
    match event {
        EventName::SessionStart => "session-start",
        EventName::PreToolUse => "pre-tool",
        EventName::PostToolUse => "post-tool",
        EventName::UserPromptSubmit => "prompt-submit",
        EventName::SessionEnd => "session-end",
        _ => "event",
    }
}

/// How long the client waits for a hook: at least twice the hook's own time budget.
pub(crate) fn timeout_seconds(event: EventName) -> u64 {
    match event {
        EventName::PreToolUse | EventName::UserPromptSubmit => 5,
        EventName::SessionStart => 10,
        EventName::SessionEnd => 60,
        _ => 6,
    }
}
