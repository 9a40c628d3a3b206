//! The engine of a replay: one session in memory per id, and a report about each event.

use std::collections::BTreeMap;
use std::io::{BufWriter, Stdout, Write as _};

use context_graph_core::session::{Curve, EventRecord, Session};
use context_graph_events::{DecodeError, Event};
use context_graph_secrets::{Memory, Redactor};
use serde_json::{Value, json};

use super::curve;
use crate::{table, terminal};

/// Receives past events one by one.
pub(crate) trait EventSink {
    /// Receives the event of a line.
    fn take(&mut self, line: usize, event: Event, at_ms: i64) -> Result<(), DecodeError>;

    /// Called for a line that could not be read.
    fn refuse(&mut self, line: usize, problem: &str);
}

/// Plays events and reports what they did.
pub(super) struct Player {
    sessions: BTreeMap<String, (Session, Curve)>,
    order: Vec<String>,
    out: Option<BufWriter<Stdout>>,
    bad: usize,
    redactor: Redactor,
    memory: Memory,
}

impl Player {
    pub(super) fn new(line_by_line: bool) -> Self {
        let out = line_by_line.then(|| BufWriter::with_capacity(1 << 16, std::io::stdout()));
        Self {
            sessions: BTreeMap::new(),
            order: Vec::new(),
            out,
            bad: 0,
            redactor: Redactor::new([0; 32]),
            memory: Memory::default(),
        }
    }

    /// Prints the rest, and returns how many lines could not be read.
    pub(super) fn finish(mut self) -> usize {
        if let Some(out) = &mut self.out {
            if self.order.is_empty() && self.bad == 0 {
                // A program gets an object even if there was nothing.
                let _ = writeln!(out, "{}", json!({"events": 0}));
            }
            let _ = out.flush();
            return self.bad;
        }
        // A failure to write has been reported.
        let _ = table::page_lines(self.text().lines());
        self.bad
    }

    /// All sessions for people, the oldest first, safe for a terminal.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut sessions: Vec<_> = self.order.iter().filter_map(|id| self.sessions.get(id)).collect();
        sessions.sort_by_key(|(session, _)| session.state.started_ms);
        for (session, curve) in sessions {
            text.push_str(&curve::tell(curve, session));
        }
        if self.order.is_empty() {
            text.push_str("no events to replay\n");
        }
        terminal::plain(&text, true)
    }
}

impl EventSink for Player {
    fn take(&mut self, line: usize, event: Event, at_ms: i64) -> Result<(), DecodeError> {
        let id = event.session_id().to_owned();
        let name = event.name().to_owned();
        let (record, event) = EventRecord::of(event, at_ms, &self.redactor, &mut self.memory)?;
        let (session, curve) = self.sessions.entry(id.clone()).or_insert_with(|| {
            self.order.push(id.clone());
            (Session::new(&id, "", at_ms), Curve::default())
        });
        let report = session.step(&record, &event);
        // In a store, the dream would be a record of its own.
        session.state.unlogged_dream = None;
        curve.observe(0, at_ms, session, &event, &report);
        if let Some(out) = &mut self.out {
            let mut answer = json!({
                "line": line,
                "hook_event_name": name,
                "session_id": id,
                "ic": report.ic.value,
                "level": report.ic.level,
                "looping": session.state.looping.is_some(),
                "r": session.snapshot.integration,
            });
            if let Some(looping) = &session.state.looping {
                answer["loop"] = json!({"what": looping.what, "times": looping.times});
            }
            if let Some(dream) = report.dream {
                answer["dream"] = json!(dream.cause);
            }
            let _ = writeln!(out, "{answer}");
        }
        Ok(())
    }

    /// Every input line gives one output line.
    fn refuse(&mut self, line: usize, problem: &str) {
        self.bad += 1;
        match &mut self.out {
            Some(out) => {
                let _ = writeln!(out, "{}", json!({"line": line, "error": problem}));
            }
            None => terminal::complain(&format!("line {line}: {problem}")),
        }
    }
}

/// The time in a payload, if it has one.
pub(super) fn timestamp_of(object: &serde_json::Map<String, Value>) -> Option<i64> {
    object.get("timestamp_ms").and_then(Value::as_i64)
}
