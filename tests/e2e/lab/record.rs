//! What context-graph has on record, read with its own commands.

use context_graph_events::{Event, EventName};
use serde_json::Value;

use super::Lab;

/// One event on record.
#[derive(Debug, Clone)]
pub struct RecordedEvent {
    pub event: String,
    /// The client's payload, as it was recorded.
    pub payload: Value,
    /// What was decided, if anything.
    pub ruling: Value,
}

/// Recorded events, in order.
#[derive(Debug, Default)]
pub struct Record(Vec<RecordedEvent>);

impl Lab {
    pub fn record(&self, session: &str) -> Record {
        Record(self.entries(session))
    }

    /// The record of every session of the project, the oldest first.
    pub fn whole_record(&self) -> Record {
        let sessions = self.sessions();
        Record(sessions.iter().flat_map(|session| self.entries(session)).collect())
    }

    /// The ids of the sessions, the oldest first.
    pub fn sessions(&self) -> Vec<String> {
        let output = self.our_command(&["session", "list", "--json"]).output().unwrap();
        let listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let mut sessions: Vec<(i64, String)> = listed
            .iter()
            .map(|session| {
                (session["started_ms"].as_i64().unwrap(), session["session_id"].as_str().unwrap().to_owned())
            })
            .collect();
        sessions.sort();
        sessions.into_iter().map(|(_, id)| id).collect()
    }

    fn entries(&self, session: &str) -> Vec<RecordedEvent> {
        let text = self.ours(&["session", "export", session]);
        text.lines().skip(1).map(|line| RecordedEvent::read(&serde_json::from_str(line).unwrap())).collect()
    }
}

impl RecordedEvent {
    fn read(line: &Value) -> Self {
        let record = &line["record"];
        let payload: Value = serde_json::from_str(record["payload"].as_str().unwrap()).unwrap();
        Self {
            event: payload["hook_event_name"].as_str().unwrap().to_owned(),
            ruling: record["ruling"].clone(),
            payload,
        }
    }

    pub fn tool_use_id(&self) -> Option<&str> {
        self.payload["tool_use_id"].as_str()
    }

    /// The id of the call, and its duration by the client's clock.
    pub fn duration(&self) -> Option<(&str, &Value)> {
        Some((self.tool_use_id()?, self.payload.get("duration_ms")?))
    }

    pub fn text(&self, field: &str) -> &str {
        self.payload[field].as_str().unwrap_or_default()
    }
}

impl Record {
    /// The names of the events.
    pub fn events(&self) -> Vec<&str> {
        self.0.iter().map(|entry| entry.event.as_str()).collect()
    }

    /// The entries of an event.
    pub fn of<'a>(&'a self, event: &str) -> impl Iterator<Item = &'a RecordedEvent> {
        self.0.iter().filter(move |entry| entry.event == event)
    }

    pub fn count(&self, event: &str) -> usize {
        self.of(event).count()
    }

    /// The entry of an event that must be on record exactly once.
    pub fn only(&self, event: &str) -> &RecordedEvent {
        assert_eq!(self.count(event), 1, "{event} in {:?}", self.events());
        self.of(event).next().unwrap()
    }

    /// Asserts that the event is on record, and that we know it and all its fields.
    pub fn assert_understood(&self, event: &str) {
        assert!(self.count(event) > 0, "no {event} in {:?}", self.events());
        for entry in self.of(event) {
            let decoded = Event::from_object(entry.payload.as_object().cloned().unwrap()).unwrap();
            assert_eq!(decoded.known_name().map(EventName::as_str), Some(event));
        }
    }

    /// Asserts that these events are on record in this order. Others may lie between them.
    pub fn assert_in_order(&self, expected: &[&str]) {
        let events = self.events();
        let mut rest = events.iter();
        for event in expected {
            assert!(rest.any(|it| it == event), "no {event} in its place: {events:?}");
        }
    }

    /// Asserts that the call has exactly one `PreToolUse`, and one end: this event.
    pub fn assert_call(&self, id: &str, ending: &str) {
        let of_call: Vec<&str> = self
            .0
            .iter()
            .filter(|entry| entry.tool_use_id() == Some(id))
            .map(|entry| entry.event.as_str())
            .collect();
        assert_eq!(of_call, ["PreToolUse", ending], "the call {id} in {:?}", self.events());
    }
}
