//! What should be in the settings.

use context_graph_events::EventName;

use crate::json::item::Item;

/// What of ours should be in the settings. Hooks of ours that are not in here are taken out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The hooks, in the order in which missing ones are added.
    pub hooks: Vec<PlannedHook>,
    /// The status line. It is only put where there is none, or one of ours; if none is planned, ours stays as it is.
    pub status_line: Option<StatusLine>,
}

/// One hook: a group of its own under its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedHook {
    /// The event.
    pub event: EventName,
    /// Which occurrences; none for all.
    pub matcher: Option<String>,
    /// What runs.
    pub entry: HookEntry,
}

/// What a hook runs, as the client reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEntry {
    /// With `args` the program, without them a line for the shell.
    pub command: String,
    /// The program's arguments: the client then starts it without a shell.
    pub args: Option<Vec<String>>,
    /// After how many seconds the client gives up.
    pub timeout: u64,
    /// What a hook that did not answer means; none for the client's default, which is to go on.
    pub on_failure: Option<OnFailure>,
    /// What the client shows while the hook runs. If none is planned, one that is there stays.
    pub status_message: Option<String>,
}

/// What a hook that times out, exits with 1 or cannot be started means to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Go on as if there were no hook.
    Continue,
    /// Block what the hook was asked about.
    Block,
}

/// The line at the bottom of the client's screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusLine {
    /// A line for the shell: there is no form without one.
    pub command: String,
    /// Blanks at the left, if the client's default is not wanted.
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
    /// The keys that are ours to set, with the value each should have; a key without one should not be there.
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

impl PlannedHook {
    /// The group that holds this hook alone.
    pub(crate) fn group(&self) -> Item {
        let entry = self.entry.members().into_iter().filter_map(|(key, item)| Some((key, item?))).collect();
        let hooks = ("hooks", Item::List(vec![Item::Object(entry)]));
        let matcher = self.matcher.clone().map(|matcher| ("matcher", Item::Text(matcher)));
        Item::Object(matcher.into_iter().chain([hooks]).collect())
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
