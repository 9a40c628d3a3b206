//! Derives rows from entries: calls, events, decisions, files, turns, injections. They depend only on the
//! records, so rows can be derived again at any time and compared with the stored ones.

use std::collections::HashMap;

use context_graph_core::audit::{Call, Entry, EventRuling, Happening, TurnEnd};
use context_graph_core::session::EventRecord;
use context_graph_events::EventName;
use context_graph_events::claude_code::SessionSource;

use super::field::Field;
use super::write::number;

/// A table of derived rows.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The key of a row: session, sequence number, and what distinguishes rows with the same number.
    pub key: &'static str,
    /// Its columns, those of the key first.
    pub columns: &'static str,
    /// How many columns there are.
    pub width: usize,
    /// How many columns the key has, without the session.
    pub(super) key_width: usize,
}

impl Table {
    const fn new(name: &'static str, key: &'static str, columns: &'static str) -> Self {
        Self { name, key, columns, width: commas(columns) + 1, key_width: commas(key) }
    }
}

const fn commas(list: &str) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < list.len() {
        if list.as_bytes()[at] == b',' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The number of the table of calls.
pub const CALLS: usize = 0;
/// The number of the table of events.
pub const EVENTS: usize = 1;
/// The number of the table of decisions.
pub const DECISIONS: usize = 2;
/// The number of the table of files.
pub const FILES: usize = 3;
/// The number of the table of turns.
pub const TURNS: usize = 4;
/// The number of the table of injections.
pub const INJECTIONS: usize = 5;

/// The tables; their index is used as their number.
pub const TABLES: [Table; 6] = [
    Table::new(
        "calls",
        "session, seq, place",
        "session, seq, place, last_seq, at_ms, ended_ms, tool_use_id, tool, mcp_server, agent_id, agent_type,
            prompt_id, permission_mode, subject, verdict, outcome, evidence, duration_ms, between_ms, permission_asked,
            deferrals, batch_seq, error",
    ),
    Table::new(
        "events",
        "session, seq",
        "session, seq, at_ms, event, hook_us, call, tool_use_id, agent_id, agent_type, prompt_id, verdict, subject",
    ),
    Table::new(
        "decisions",
        "session, seq, place, position",
        "session, seq, place, position, event, verdict, rule, reason, counted",
    ),
    Table::new("files", "session, seq, place, position", "session, seq, place, position, path"),
    Table::new("turns", "session, seq", "session, seq, at_ms, ended_ms, ended_by, prompt"),
    Table::new("injections", "session, seq, position", "session, seq, position, kind, content"),
];

/// The kind of an injection that is the previous session.
pub(super) const PREVIOUS_SESSION: &str = "previous_session";

/// Receives rows.
pub trait Rows {
    /// Why a row was not taken.
    type Error;

    /// One row of the table with this number.
    fn row(&mut self, table: usize, row: &[Field<'_>]) -> Result<(), Self::Error>;
}

/// Derives the rows of entries made from these records; returns the sequence number of the prompt of an unfinished turn.
pub fn derive_rows<R: Rows>(
    session: i64,
    entries: &[Entry],
    records: &[(u64, EventRecord)],
    into: &mut R,
) -> Result<Option<u64>, R::Error> {
    let mut derivation = Derivation { session, records, places: HashMap::new(), into };
    for entry in entries {
        match entry {
            Entry::Call(call) => derivation.call(call)?,
            Entry::Event(happening) => derivation.event(happening)?,
        }
    }
    derivation.injections()?;
    derivation.turns(entries)
}

struct Derivation<'a, R> {
    session: i64,
    records: &'a [(u64, EventRecord)],
    /// For each batch, how many calls without a record of their own were derived.
    places: HashMap<u64, i64>,
    into: &'a mut R,
}

impl<R: Rows> Derivation<'_, R> {
    fn call(&mut self, call: &Call) -> Result<(), R::Error> {
        let seq = call.first_seq();
        let place = if call.records.is_empty() {
            let place = self.places.entry(seq).or_default();
            *place += 1;
            *place
        } else {
            0
        };
        let ruling = call.ruling();
        let row = [
            self.session.into(),
            seq.into(),
            place.into(),
            call.records.last().map_or(seq, |part| part.seq).into(),
            call.at_ms.into(),
            call.ended_ms.into(),
            said(&call.tool_use_id),
            (&call.tool).into(),
            call.mcp_server.as_ref().into(),
            call.agent.id.as_ref().into(),
            call.agent.kind.as_ref().into(),
            call.prompt_id.as_ref().into(),
            call.permission_mode.as_ref().into(),
            (&call.subject).into(),
            ruling.map(|ruling| &ruling.verdict).into(),
            call.outcome.as_str().into(),
            call.evidence.as_str().into(),
            call.duration_ms.into(),
            call.between_ms.into(),
            call.permission_asked.into(),
            call.deferrals.into(),
            call.batch_seq.into(),
            call.error.as_ref().map(|error| beginning(error)).into(),
        ];
        self.into.row(CALLS, &row)?;
        for part in &call.records {
            let mut row = [Field::Null; 12];
            row[..6].copy_from_slice(&[
                self.session.into(),
                part.seq.into(),
                part.at_ms.into(),
                part.event.into(),
                part.took_us.into(),
                seq.into(),
            ]);
            self.into.row(EVENTS, &row)?;
        }
        self.decisions(seq, place, &call.decided, ruling)?;
        self.files(seq, place, &call.paths)
    }

    fn event(&mut self, happening: &Happening) -> Result<(), R::Error> {
        let seq = happening.seq;
        let records = self.records;
        let at = records.binary_search_by_key(&seq, |(seq, _)| *seq).ok();
        let record = at.map(|at| &records[at].1);
        let tool_use_id = record.and_then(|record| record.tool_use_id.as_deref()).unwrap_or_default();
        let decided = happening.decided.as_ref();
        let row = [
            self.session.into(),
            seq.into(),
            happening.at_ms.into(),
            (&happening.event).into(),
            happening.took_us.into(),
            Field::Null,
            said(tool_use_id),
            happening.agent.id.as_ref().into(),
            happening.agent.kind.as_ref().into(),
            happening.prompt_id.as_ref().into(),
            decided.map(|decided| &decided.verdict).into(),
            said(&happening.subject),
        ];
        self.into.row(EVENTS, &row)?;
        self.decisions(seq, 0, happening.decided.as_slice(), decided)?;
        self.files(seq, 0, &happening.paths)
    }

    fn decisions(
        &mut self,
        seq: u64,
        place: i64,
        decided: &[EventRuling],
        counted: Option<&EventRuling>,
    ) -> Result<(), R::Error> {
        let mut position = 0_i64;
        for decision in decided {
            let counts = counted.is_some_and(|counted| std::ptr::eq(counted, decision));
            let rules = decision.rules.iter().map(Some);
            let none = decision.rules.is_empty().then_some(None);
            for rule in rules.chain(none) {
                let EventRuling { event, verdict, reason, .. } = decision;
                let row = [
                    self.session.into(),
                    seq.into(),
                    place.into(),
                    position.into(),
                    event.into(),
                    verdict.into(),
                    rule.into(),
                    reason.into(),
                    counts.into(),
                ];
                self.into.row(DECISIONS, &row)?;
                position += 1;
            }
        }
        Ok(())
    }

    fn files(&mut self, seq: u64, place: i64, paths: &[String]) -> Result<(), R::Error> {
        for (position, path) in (0_i64..).zip(paths) {
            let row = [self.session.into(), seq.into(), place.into(), position.into(), path.into()];
            self.into.row(FILES, &row)?;
        }
        Ok(())
    }

    fn injections(&mut self) -> Result<(), R::Error> {
        for (seq, record) in self.records {
            let link = record.link.as_ref().map(|link| (PREVIOUS_SESSION, &link.session_id));
            let added = record.ruling.as_ref().filter(|ruling| ruling.verdict == "add_context");
            let context = added.map(|ruling| ("context", &ruling.reason));
            let input = record.updated_input.as_ref().map(|input| ("input", input));
            for (position, (kind, content)) in (0_i64..).zip([link, context, input].into_iter().flatten()) {
                let row =
                    [self.session.into(), (*seq).into(), position.into(), Field::Text(kind), content.into()];
                self.into.row(INJECTIONS, &row)?;
            }
        }
        Ok(())
    }

    /// Derives the turns; returns the sequence number of the prompt of an unfinished one.
    fn turns(&mut self, entries: &[Entry]) -> Result<Option<u64>, R::Error> {
        let mut open: Option<&Happening> = None;
        for entry in entries {
            let Entry::Event(event) = entry else { continue };
            let Some(name) = EventName::parse(&event.event) else { continue };
            let ended_by = match TurnEnd::of(name, event.subject == SessionSource::Compact.as_str()) {
                Some(TurnEnd::Stopped) => "stopped",
                Some(TurnEnd::BrokenOff | TurnEnd::ByRun) => "broken_off",
                None => continue,
            };
            if let Some(turn) = open.take() {
                self.turn(turn, Some((event.at_ms, ended_by)))?;
            }
            open = (name == EventName::UserPromptSubmit).then_some(event);
        }
        if let Some(turn) = open {
            self.turn(turn, None)?;
        }
        Ok(open.map(|turn| turn.seq))
    }

    fn turn(&mut self, turn: &Happening, end: Option<(i64, &str)>) -> Result<(), R::Error> {
        let (ended_ms, ended_by) = end.unzip();
        let row = [
            self.session.into(),
            number(turn.seq).into(),
            turn.at_ms.into(),
            ended_ms.into(),
            ended_by.into(),
            (&turn.subject).into(),
        ];
        self.into.row(TURNS, &row)
    }
}

/// How many characters of an error go into a row; the record has all of it.
const ERROR_LETTERS: usize = 300;

fn beginning(error: &str) -> &str {
    error.char_indices().nth(ERROR_LETTERS).map_or(error, |(end, _)| &error[..end])
}

/// An empty text becomes NULL.
fn said(text: &str) -> Field<'_> {
    if text.is_empty() { Field::Null } else { Field::Text(text) }
}
