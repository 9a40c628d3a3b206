//! An action that failed, as it stands in the record.

use context_graph_events::claude_code::{Event, UnknownEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The name under which a failed action stands in the log. The client has no event of this name.
pub const ACTION_FAILED: &str = "ActionFailed";

/// A command that an event started, and that did not do what it was to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionFailure {
    /// The action's name.
    pub name: String,
    /// The event that started it.
    pub event: String,
    /// What went wrong, in a few words.
    pub how: String,
    /// The end of what it said.
    pub output: String,
}

impl ActionFailure {
    /// The failure as an entry for the log of a session.
    pub fn to_event(&self, session_id: &str) -> Event {
        let mut raw: Map<String, Value> = Map::new();
        raw.insert("hook_event_name".to_owned(), ACTION_FAILED.into());
        raw.insert("session_id".to_owned(), session_id.into());
        raw.insert("action".to_owned(), json!(self));
        Event::Unknown(UnknownEvent { name: ACTION_FAILED.to_owned(), raw })
    }

    /// The failure that an entry of the log tells of.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Unknown(unknown) if unknown.name == ACTION_FAILED => {
                Self::deserialize(unknown.raw.get("action")?).ok()
            }
            _ => None,
        }
    }
}
