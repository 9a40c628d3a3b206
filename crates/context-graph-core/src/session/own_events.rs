//! Our own events in a session's record. They are about the record or the user's commands, not about the session's
//! work.

use std::fmt;

use context_graph_events::claude_code::{Event, UnknownEvent};
use context_graph_events::safe_text::shortened;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{ACTION_FAILED, CONTEXT_WAITS, DREAM_RECORDED};
use crate::gwt::session_identity::SessionIdentitySnapshot;

/// The name of the event about lost events. The client has no event with this name or with the names of the next three
/// constants.
pub const EVENTS_LOST: &str = "EventsLost";
/// The name of the event for the user's acknowledgement of earlier losses.
pub const LOSS_ACKNOWLEDGED: &str = "LossAcknowledged";
/// The name of the event for a replaced identity.
pub const IDENTITY_SAVED: &str = "IdentitySaved";
/// The name of the event for a title that the client gave a session in its transcript.
pub const SESSION_TITLED: &str = "SessionTitled";

/// The longest title that is kept.
pub(super) const MAX_TITLE: usize = 200;

/// Whether only this program may make an event with this name.
pub fn is_own_event(name: &str) -> bool {
    [
        DREAM_RECORDED,
        ACTION_FAILED,
        CONTEXT_WAITS,
        EVENTS_LOST,
        LOSS_ACKNOWLEDGED,
        IDENTITY_SAVED,
        SESSION_TITLED,
    ]
    .contains(&name)
}

/// Events that were acknowledged and then lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsLost {
    /// How many were lost; 0 if nothing shows that any were.
    pub lost: u64,
    /// Whether there may have been more.
    pub at_least: bool,
    /// What happened, in a few words.
    pub how: String,
    /// What is left of them: file names in quarantine.
    pub pieces: Vec<String>,
}

impl EventsLost {
    /// The loss as an event of its session.
    pub fn to_event(&self, session_id: &str) -> Event {
        own_event(EVENTS_LOST, session_id, "loss", json!(self))
    }

    /// The loss in such an event.
    pub fn of(event: &Event) -> Option<Self> {
        content(event, EVENTS_LOST, "loss")
    }
}

impl fmt::Display for EventsLost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, events) =
            (if self.at_least { "at least " } else { "" }, if self.lost == 1 { "event" } else { "events" });
        match self.lost {
            0 => write!(out, "events may be lost: {}", self.how)?,
            lost => write!(out, "{least}{lost} {events} lost: {}", self.how)?,
        }
        if !self.pieces.is_empty() {
            write!(out, " (in quarantine: {})", self.pieces.join(", "))?;
        }
        Ok(())
    }
}

/// The event that says: the user has acknowledged the session's losses.
pub fn loss_acknowledged(session_id: &str) -> Event {
    own_event(LOSS_ACKNOWLEDGED, session_id, "loss", Value::Null)
}

/// The event that says: a session's identity was replaced. Holds the names of the changed fields.
pub fn identity_saved(old: &SessionIdentitySnapshot, new: &SessionIdentitySnapshot) -> Event {
    let (before, after) = (json!(old), json!(new));
    let fields = after.as_object().into_iter().flatten();
    let changed =
        fields.filter(|(name, value)| before.get(name) != Some(value)).map(|(name, _)| name.as_str());
    own_event(IDENTITY_SAVED, &new.session_id, "changed", changed.collect())
}

/// The event that says: the client has given the session this title.
pub fn session_titled(session_id: &str, title: &str) -> Event {
    own_event(SESSION_TITLED, session_id, "title", json!(shortened(title, MAX_TITLE)))
}

/// The title that an event says the client gave its session.
pub fn title_given(event: &Event) -> Option<String> {
    match event {
        Event::SessionStart(start) => start.session_title.clone(),
        Event::UserPromptSubmit(prompt) => prompt.session_title.clone(),
        other => content(other, SESSION_TITLED, "title"),
    }
}

/// The identity fields that an event lists as changed.
pub(crate) fn changed_identity(event: &Event) -> Option<Vec<String>> {
    content(event, IDENTITY_SAVED, "changed")
}

/// Builds one of our own events.
pub(super) fn own_event(name: &str, session_id: &str, key: &str, value: Value) -> Event {
    let mut raw: Map<String, Value> = Map::new();
    raw.insert("hook_event_name".to_owned(), name.into());
    raw.insert("session_id".to_owned(), session_id.into());
    raw.insert(key.to_owned(), value);
    Event::Unknown(UnknownEvent { name: name.to_owned(), raw })
}

/// Reads the value under `key` from one of our own events.
pub(super) fn content<T: DeserializeOwned>(event: &Event, name: &str, key: &str) -> Option<T> {
    match event {
        Event::Unknown(unknown) if unknown.name == name => T::deserialize(unknown.raw.get(key)?).ok(),
        _ => None,
    }
}
