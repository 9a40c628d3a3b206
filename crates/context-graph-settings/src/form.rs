//! How a client nests and names hooks, and what should be in its file.

use context_graph_events::EventName;

use crate::default_plan::arguments;
use crate::json::item::Item;
use crate::plan::{Plan, StatusLine};

/// The content of an event's array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Groups with a matcher, each with an array of hooks.
    Groups,
    /// The hooks themselves.
    Flat,
}

/// The form of a client's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) nesting: Nesting,
    /// The key of the command.
    pub(crate) command: &'static str,
    /// Whether a hook needs `type: "command"`.
    pub(crate) is_typed: bool,
    /// Whether the file contains its format version.
    pub(crate) has_version: bool,
    /// Whether one verb answers every event. For Claude Code, some events have their own verb.
    pub(crate) is_one_verb: bool,
}

/// The arguments for every event of other clients: the payload says which event it is.
pub(crate) const ONE_VERB: [&str; 2] = ["hooks", "event"];

impl Form {
    pub(crate) const CLAUDE_CODE: Self = Self {
        nesting: Nesting::Groups,
        command: "command",
        is_typed: true,
        has_version: false,
        is_one_verb: false,
    };

    /// Whether these are the arguments that we write for an event.
    pub(crate) fn writes(self, event: &str, found: &[String]) -> bool {
        if self.is_one_verb {
            found == ONE_VERB
        } else {
            EventName::parse(event).is_some_and(|event| found == arguments(event))
        }
    }
}

/// One hook that should be in a file.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) event: &'static str,
    pub(crate) matcher: Option<&'a str>,
    /// The keys that we set, with their values. A key without a value must not be there.
    pub(crate) members: Vec<(&'static str, Option<Item>)>,
}

impl Wanted<'_> {
    /// The hook itself.
    pub(crate) fn entry(&self) -> Item {
        let members = self.members.iter().filter_map(|(key, item)| Some((*key, item.clone()?)));
        Item::Object(members.collect())
    }

    /// The group that contains only this hook.
    pub(crate) fn group(&self) -> Item {
        let hooks = ("hooks", Item::List(vec![self.entry()]));
        let matcher = self.matcher.map(|matcher| ("matcher", Item::Text(matcher.to_owned())));
        Item::Object(matcher.into_iter().chain([hooks]).collect())
    }
}

/// What should be in a file.
#[derive(Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) form: Form,
    pub(crate) hooks: Vec<Wanted<'a>>,
    pub(crate) version: Option<u64>,
    pub(crate) status_line: Option<&'a StatusLine>,
}

impl<'a> From<&'a Plan> for Wish<'a> {
    fn from(plan: &'a Plan) -> Self {
        let hooks = plan.hooks.iter().map(|hook| Wanted {
            event: hook.event.as_str(),
            matcher: hook.matcher.as_deref(),
            members: hook.entry.members(),
        });
        Self {
            form: Form::CLAUDE_CODE,
            hooks: hooks.collect(),
            version: None,
            status_line: plan.status_line.as_ref(),
        }
    }
}
