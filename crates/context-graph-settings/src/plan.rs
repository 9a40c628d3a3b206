//! What should be in the settings.

use context_graph_events::EventName;

use crate::json::item::Item;

/// Our entries that should be in the settings. Our hooks that are not in the plan are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The hooks, in the order in which missing ones are added.
    pub hooks: Vec<PlannedHook>,
    /// The status line. It is set only if there is none, or if it is ours. If none is planned, ours stays.
    pub status_line: Option<StatusLine>,
}

/// One hook, in a group of its own under its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedHook {
    /// The event.
    pub event: EventName,
    /// Which occurrences; `None` for all.
    pub matcher: Option<String>,
    /// What runs.
    pub entry: HookEntry,
}

/// What a hook runs, in the client's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// With `args` the program; without them a shell line.
    pub command: String,
    /// The program's arguments: the client then starts it without a shell.
    pub args: Option<Vec<String>>,
    /// The client's timeout in seconds.
    pub timeout: u64,
    /// What the client does if the hook gives no answer; `None` for the client's default, which is to continue.
    pub on_failure: Option<OnFailure>,
    /// The text that the client shows while the hook runs. If none is planned, an existing one stays.
    pub status_message: Option<String>,
}

/// What the client does if a hook times out, exits with 1 or cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Continue as if there were no hook.
    Continue,
    /// Block the action that the hook was asked about.
    Block,
}

/// The status line at the bottom of the client's screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    /// A shell line: there is no form without a shell.
    pub command: String,
    /// Spaces at the left; `None` for the client's default.
    pub padding: Option<u64>,
}

impl OnFailure {
    fn as_str(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Block => "block",
        }
    }
}

impl HookEntry {
    /// The keys that we set, with their values. A key without a value must not be there.
    pub(crate) fn members(&self) -> Vec<(&'static str, Option<Item>)> {
        let mut members = vec![
            ("type", Some(Item::Text("command".to_owned()))),
            ("command", Some(Item::Text(self.command.clone()))),
            ("args", self.args.as_deref().map(Item::texts)),
            ("timeout", Some(Item::Number(self.timeout))),
            ("onFailure", self.on_failure.map(|it| Item::Text(it.as_str().to_owned()))),
        ];
        if let Some(message) = &self.status_message {
            members.push(("statusMessage", Some(Item::Text(message.clone()))));
        }
        if self.args.is_some() {
            members.push(("shell", None));
        }
        members
    }
}

impl StatusLine {
    pub(crate) fn members(&self) -> Vec<(&'static str, Item)> {
        let mut members =
            vec![("type", Item::Text("command".to_owned())), ("command", Item::Text(self.command.clone()))];
        members.extend(self.padding.map(|padding| ("padding", Item::Number(padding))));
        members
    }
}
