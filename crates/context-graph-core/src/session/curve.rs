//! Continuity over a session: its value at each tool result, with notes about important moments. The curve is
//! computed by replaying the session's records, so it is available for any session at any time.

use context_graph_events::Event;
use context_graph_events::claude_code::SessionSource;
use context_graph_events::safe_text::{counted, tame};

use super::{DIGEST_MAX, DreamCause, EventRecord, Session, StepReport};
use crate::gwt::ic_monitor::ICLevel;

/// How many new terms and how many views a note about a fall contains.
const NEW_THINGS: usize = 5;
const VIEWS: usize = 3;

/// Continuity after a tool result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The number of the record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// The continuity.
    pub ic: f32,
}

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Continuity fell to the warning or critical level.
    Fall,
    /// The session began to repeat itself.
    Loop,
    /// The session dreamt.
    Dream,
    /// What the session would tell its model at this moment.
    Injected,
}

/// A note about one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurveNote {
    /// The number of the record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// How many tool results there were so far.
    pub call: usize,
    /// Its kind.
    pub kind: NoteKind,
    /// Its text.
    pub text: String,
}

/// Continuity over a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// One point for each tool result, oldest first.
    pub points: Vec<CurvePoint>,
    /// The notes, oldest first.
    pub notes: Vec<CurveNote>,
    low: bool,
    was_looping: bool,
}

impl Curve {
    /// Adds a step: `session` after the event, and the step's report.
    pub fn observe(&mut self, seq: u64, at_ms: i64, session: &Session, event: &Event, report: &StepReport) {
        if matches!(event, Event::PostToolUse(_) | Event::PostToolUseFailure(_)) {
            self.points.push(CurvePoint { seq, at_ms, ic: report.ic.value });
        }
        let call = self.points.len();
        let mut note = |kind, text| self.notes.push(CurveNote { seq, at_ms, call, kind, text });
        let low = matches!(report.ic.level, ICLevel::Warning | ICLevel::Critical);
        if low && !self.low {
            note(NoteKind::Fall, fall(session, report));
        }
        let looping = session.state.looping.as_ref();
        if let Some(found) = looping.filter(|_| !self.was_looping) {
            let text = format!("loop: {} ({} times)", tame(&found.what, 90), found.times);
            note(NoteKind::Loop, text);
        }
        if let Some(dream) = report.dream.filter(|dream| dream.cause != DreamCause::End) {
            let kept = counted(dream.kept, "vector", "vectors");
            note(NoteKind::Dream, format!("dream: kept {kept}, dropped {}", dream.dropped));
        }
        if let Some(text) = injection(session, event, report) {
            note(NoteKind::Injected, text);
        }
        (self.low, self.was_looping) = (low, looping.is_some());
    }
}

/// A session replayed from its records, with its curve.
#[derive(Debug, Clone)]
pub struct Playback {
    /// The session after the records so far.
    pub session: Session,
    /// Its curve.
    pub curve: Curve,
    /// The number of the last replayed record.
    pub last_seq: u64,
}

impl Playback {
    /// A replay that has not started.
    pub fn new(session_id: &str, project: &str) -> Self {
        Self { session: Session::new(session_id, project, 0), curve: Curve::default(), last_seq: 0 }
    }

    /// Replays the next record. A record that cannot be decoded is skipped.
    pub fn play(&mut self, seq: u64, record: &EventRecord) {
        let is_first = self.last_seq == 0;
        self.last_seq = seq;
        if is_first {
            self.session.state.started_ms = record.at_ms;
        }
        let Ok(event) = record.event() else { return };
        let report = self.session.step(record, &event);
        self.session.state.unlogged_dream = None;
        self.curve.observe(seq, record.at_ms, &self.session, &event, &report);
    }
}

/// What pulled continuity down, in one line.
fn fall(session: &Session, report: &StepReport) -> String {
    let pulls = session.state.continuity.explain();
    let new = pulls.iter().flat_map(|pull| &pull.evidence).take(NEW_THINGS);
    let new: Vec<String> = new.map(|text| tame(text, 60)).collect();
    let views: Vec<&str> = pulls.iter().take(VIEWS).map(|pull| pull.view).collect();
    format!(
        "continuity fell to {:.2} ({}): {}; new: {}",
        report.ic.value,
        report.ic.level,
        views.join(", "),
        if new.is_empty() { "nothing to name".to_owned() } else { new.join(", ") }
    )
}

/// What the session would tell the model at this moment with default settings: after a compaction, at a resume, at a
/// prompt, and alarms. These words are not in the record; they are computed from it.
fn injection(session: &Session, event: &Event, report: &StepReport) -> Option<String> {
    match event {
        Event::SessionStart(start) => match start.source {
            SessionSource::Compact => session.tell_digest(DIGEST_MAX, ""),
            SessionSource::Resume if session.state.counters.prompts > 0 => Some(session.tell_state()),
            _ => None,
        },
        Event::UserPromptSubmit(_) => Session::tell_pointed(&report.pointed, DIGEST_MAX),
        _ => report.alarm.and_then(|alarm| session.tell_alarm(alarm)),
    }
}

#[cfg(test)]
mod tests {
    use context_graph_secrets::{Memory, Redactor};
    use serde_json::json;

    use super::*;

    fn record(number: i64, event: serde_json::Value) -> EventRecord {
        let event = Event::from_slice(event.to_string().as_bytes()).unwrap();
        EventRecord::alone(event, number * 1000, &Redactor::new([0; 32]), &mut Memory::default())
    }

    #[test]
    fn a_session_that_is_played_again_is_the_same_and_has_a_point_for_each_result() {
        let common = json!({"session_id": "s", "transcript_path": "", "cwd": "/w"});
        let with = |own: serde_json::Value| {
            let mut event = common.clone();
            event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
            event
        };
        let mut records = vec![
            record(1, with(json!({"hook_event_name": "SessionStart", "source": "startup"}))),
            record(2, with(json!({"hook_event_name": "UserPromptSubmit", "prompt": "Mend the parser"}))),
        ];
        for number in 3..9 {
            let call = json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
                "tool_input": {"command": "cargo test"}, "error": "Exit code 101", "is_interrupt": false});
            records.push(record(number, with(call)));
        }
        records.push(record(9, with(json!({"hook_event_name": "SessionStart", "source": "compact"}))));
        let mut playback = Playback::new("s", "/w");
        let mut session = Session::new("s", "/w", 0);
        for (seq, record) in (1..).zip(&records) {
            playback.play(seq, record);
            session.step(record, &record.event().unwrap());
        }
        assert_eq!(playback.session.snapshot, session.snapshot);
        assert_eq!((playback.curve.points.len(), playback.last_seq), (6, 9));
        let kinds: Vec<NoteKind> = playback.curve.notes.iter().map(|note| note.kind).collect();
        assert!(kinds.contains(&NoteKind::Loop), "{kinds:?}");
        assert!(playback.curve.notes.last().is_some_and(|note| note.text.contains("Mend the parser")));
    }
}
