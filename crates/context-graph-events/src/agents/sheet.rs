//! What is known about an agent, as data.

use serde_json::{Map, Value};

use super::Caller;
use super::render::{Reply, Said};
use crate::claude_code::EventName;
use crate::reply::Verb;

/// What an agent says and what it may be told.
#[derive(Debug)]
pub struct Sheet {
    /// Its events and ours. An event that is not named keeps its name if we have one like it, and is recorded as one that
    /// we do not know if we have none.
    pub(crate) events: &'static [(&'static str, EventName)],
    /// Its fields and ours.
    pub(crate) fields: &'static [(&'static str, &'static str)],
    /// What it honours in replies. A row that is missing means nothing.
    pub(crate) capabilities: &'static [(EventName, &'static [Verb])],
    /// Puts right what renaming cannot, before fields are renamed.
    pub(crate) prepare: fn(&mut Map<String, Value>),
    /// Writes a reply that is within its capabilities.
    pub(crate) render: fn(&Said<'_>, &Caller) -> Reply,
}

impl Sheet {
    /// What the agent honours in a reply to this event.
    pub fn verbs(&self, event: EventName) -> &'static [Verb] {
        self.capabilities.iter().find(|(own, _)| *own == event).map_or(&[], |(_, verbs)| verbs)
    }

    /// The event that the agent calls so.
    pub(crate) fn event(&self, native: &str) -> Option<EventName> {
        let named = self.events.iter().find(|(own, _)| *own == native).map(|(_, event)| *event);
        named.or_else(|| EventName::parse(native))
    }

    /// What the agent calls this event.
    pub(crate) fn native_name(&self, event: EventName) -> Option<&'static str> {
        self.events.iter().find(|(_, own)| *own == event).map(|(native, _)| *native)
    }
}

/// For agents whose payloads need nothing but renaming.
pub(crate) fn as_it_is(_: &mut Map<String, Value>) {}
