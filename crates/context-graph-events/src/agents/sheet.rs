//! What is known about an agent, as data.

use serde_json::{Map, Value};

use super::Caller;
use super::render::{AgentAnswer, ReplyContent};
use crate::claude_code::EventName;
use crate::reply::Verb;

/// The events of an agent and the replies that it accepts.
#[derive(Debug)]
pub struct Sheet {
    /// Its events and ours. An event that is not listed keeps its name. If Claude Code has no event of that name, it
    /// is recorded as unknown.
    pub(crate) events: &'static [(&'static str, EventName)],
    /// Its fields and ours.
    pub(crate) fields: &'static [(&'static str, &'static str)],
    /// What it honours in replies. If an event has no row, the agent ignores every reply to it.
    pub(crate) capabilities: &'static [(EventName, &'static [Verb])],
    /// Fixes what renaming cannot fix, before fields are renamed.
    pub(crate) prepare: fn(&mut Map<String, Value>),
    /// Writes a reply that is within its capabilities.
    pub(crate) render: fn(&ReplyContent<'_>, &Caller) -> AgentAnswer,
}

impl Sheet {
    /// What the agent honours in a reply to this event.
    pub fn verbs(&self, event: EventName) -> &'static [Verb] {
        self.capabilities.iter().find(|(own, _)| *own == event).map_or(&[], |(_, verbs)| verbs)
    }

    /// Our event for the agent's name.
    pub(crate) fn event(&self, native: &str) -> Option<EventName> {
        let named = self.events.iter().find(|(own, _)| *own == native).map(|(_, event)| *event);
        named.or_else(|| EventName::parse(native))
    }

    /// What the agent calls this event.
    pub(crate) fn native_name(&self, event: EventName) -> Option<&'static str> {
        self.events.iter().find(|(_, own)| *own == event).map(|(native, _)| *native)
    }
}

/// For agents whose payloads only need renaming.
pub(crate) fn as_it_is(_: &mut Map<String, Value>) {}
