//! A failed action, as stored in the record.

use context_graph_events::Event;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::own_events::{content, own_event};

/// The name of the event for a failed action. The client has no event of this name.
pub const ACTION_FAILED: &str = "ActionFailed";

/// A command that an event started and that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionFailure {
    /// The action's name.
    pub name: String,
    /// The event that started it.
    pub event: String,
    /// What went wrong, in a few words.
    pub how: String,
    /// The end of its output.
    pub output: String,
}

impl ActionFailure {
    /// The failure as an event of its session.
    pub fn to_event(&self, session_id: &str) -> Event {
        own_event(ACTION_FAILED, session_id, "action", json!(self))
    }

    /// The failure in such an event.
    pub fn of(event: &Event) -> Option<Self> {
        content(event, ACTION_FAILED, "action")
    }
}
