//! Context that must be delivered later, and recent events (to detect duplicates), in sessions of other agents.
//!
//! Claude Code accepts context at the events where we have some, and sends each event once. Some events of other
//! agents do not accept it: such text is kept, up to a limit, until the session's next event that does. Some agents
//! run two registrations of ours, so a prompt or a stop arrives twice.

use context_graph_events::Event;
use context_graph_events::agents::{sender, takes_waiting_context};
use context_graph_events::safe_text::shortened;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Counters;
use super::own_events::{content, own_event};
use super::recent::hash;

/// The name of the event for texts that wait. The client has no event of this name.
pub const CONTEXT_WAITS: &str = "ContextWaits";

/// How many texts wait at most, and their greatest length; the oldest is dropped first.
const MOST_TEXTS: usize = 4;
const TEXT: usize = 4000;
/// How many events are remembered.
const MOST_SEEN: usize = 8;
/// How long after the first event the same event may arrive from a second registration. A client may run hooks one
/// after the other, and gates before stopping take their time.
const SOON_MS: i64 = 10_000;
const AFTER_GATES_MS: i64 = 10 * 60 * 1000;

/// The event that says: these texts wait for an event of the session that accepts them.
pub fn context_waits(session_id: &str, texts: &[String]) -> Event {
    own_event(CONTEXT_WAITS, session_id, "texts", json!(texts))
}

/// The waiting texts in such an event.
pub fn waiting_texts(event: &Event) -> Option<Vec<String>> {
    content(event, CONTEXT_WAITS, "texts")
}

/// What is pending in a session of another agent. Empty in all of Claude Code's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Pending {
    texts: Vec<String>,
    seen: Vec<Seen>,
}

/// An event that may arrive again by another registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    key: u32,
    at_ms: i64,
    /// A count of what the session had done by then: if it has grown, the event is a new one.
    done: u64,
}

impl Pending {
    /// The texts that wait.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub(super) fn wait(&mut self, texts: Vec<String>) {
        for text in texts {
            let text = shortened(&text, TEXT);
            self.texts.retain(|known| *known != text);
            self.texts.push(text);
        }
        self.texts.drain(..self.texts.len().saturating_sub(MOST_TEXTS));
    }

    /// Takes the waiting texts that go into the answer to this event.
    pub(super) fn take_for(&mut self, event: &Event) -> Vec<String> {
        if self.texts.is_empty() || !takes_waiting_context(event) {
            return Vec::new();
        }
        std::mem::take(&mut self.texts)
    }

    /// Whether this event was seen before.
    pub(super) fn has_seen(&self, event: &Event, at_ms: i64, counters: &Counters) -> bool {
        let Some((new, soon_ms)) = mark(event, at_ms, counters) else { return false };
        let is_again =
            |seen: &Seen| seen.key == new.key && seen.done == new.done && at_ms - seen.at_ms <= soon_ms;
        self.seen.iter().any(is_again)
    }

    /// Remembers an event, with what the session had done before it.
    pub(super) fn see(&mut self, event: &Event, at_ms: i64, counters: &Counters) {
        let Some((new, _)) = mark(event, at_ms, counters) else { return };
        self.seen.retain(|seen| seen.key != new.key);
        self.seen.push(new);
        self.seen.drain(..self.seen.len().saturating_sub(MOST_SEEN));
    }
}

/// Whether an event is one that may arrive twice.
pub(super) fn may_repeat(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionStart(_)
            | Event::UserPromptSubmit(_)
            | Event::Stop(_)
            | Event::SubagentStart(_)
            | Event::SubagentStop(_)
    ) && sender(event).is_some()
}

/// The key of an event, and for how long a second copy counts as a duplicate. Two registrations may use two dialects,
/// so the key has only what both contain.
fn mark(event: &Event, at_ms: i64, counters: &Counters) -> Option<(Seen, i64)> {
    if !may_repeat(event) {
        return None;
    }
    let calls = counters.calls_asked;
    // After other events it is a new one, even with the same content.
    let (said, done, soon_ms) = match event {
        Event::SessionStart(start) => (start.source.to_string(), 0, SOON_MS),
        Event::UserPromptSubmit(prompt) => (prompt.prompt.clone(), calls + counters.turns, SOON_MS),
        Event::Stop(stop) => {
            let prompts = counters.prompts + counters.machine_prompts;
            (stop.stop_hook_active.to_string(), calls + prompts, AFTER_GATES_MS)
        }
        other => (other.agent_id().unwrap_or_default().to_owned(), calls, SOON_MS),
    };
    let named = |key: &str| event.extra().get(key).and_then(Value::as_str);
    let turn = event.common().and_then(|common| common.prompt_id.as_deref());
    let turn = turn.or_else(|| named("turn_id")).or_else(|| named("message_id"));
    let key = hash(&format!("{} {} {said}", event.name(), turn.unwrap_or_default()));
    Some((Seen { key, at_ms, done }, soon_ms))
}
