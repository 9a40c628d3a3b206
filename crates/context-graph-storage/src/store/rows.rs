//! The content of records as rows: calls, events, decisions, files, turns, injections.
//!
//! A call has several records, and its outcome may become known much later. So rows are derived from the
//! records after the last settled position, and derived again until these are settled too.

use std::ops::ControlFlow;

use context_graph_core::audit::{Entry, Evidence, SessionRef, TurnEnd, correlate_events};
use context_graph_core::session::EventRecord;
use context_graph_events::claude_code::SessionSource;
use context_graph_events::{DecodeError, Event, EventName};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params, params_from_iter};

use super::derive::{self, Rows, TABLES};
use super::field::Field;
use super::ledger::Ledger;
use super::write::number;
use super::{LogContent, LogRecord, log};
use crate::sessions::{decode_event, decode_record};

/// How far back to look for unanswered calls: one that is never answered must not make every later turn more
/// expensive.
const FURTHEST: u64 = 1000;

/// Records that rows are derived from: each without its payload, and the event decoded from that payload.
#[derive(Default)]
pub(super) struct DecodedRecords {
    pub(super) all: Vec<(u64, EventRecord)>,
    events: Vec<Result<Event, DecodeError>>,
}

impl DecodedRecords {
    /// Adds the next one. One that cannot be decoded becomes an event without content.
    pub(super) fn push(&mut self, ledger: &Ledger, seq: u64, content: LogContent<'_>) {
        let fallback = || (unreadable(ledger.entry.first_stored_ms), Err(DecodeError::Empty));
        let (mut record, event) = decode_event(content.bytes).unwrap_or_else(|_| fallback());
        record.tool_use_id = content.tool_use_id.map(str::to_owned);
        self.all.push((seq, record));
        self.events.push(event);
    }

    /// Correlates the events into entries. The records stay.
    pub(super) fn correlated(&mut self, ledger: &Ledger) -> Vec<Entry> {
        let project = ledger.entry.project.as_deref().unwrap_or_default();
        let origin = SessionRef { session_id: &ledger.entry.session_id, project };
        let events = self.all.iter().zip(self.events.drain(..));
        correlate_events(origin, events.map(|((seq, record), event)| (*seq, record, event)))
    }
}

/// Derives rows from the records after `before`, which were just appended, and returns the new settled
/// position.
pub(super) fn tell(
    connection: &Connection,
    ledger: &Ledger,
    before: u64,
    fresh: &[&LogRecord],
) -> rusqlite::Result<u64> {
    let mut from = ledger.settled.min(before);
    let mut records = read_from(connection, ledger, from, before, fresh)?;
    let mut entries = records.correlated(ledger);
    if let Some(further) = reaches_back(connection, ledger, (from, before), &entries)? {
        from = further;
        records = read_from(connection, ledger, from, before, fresh)?;
        entries = records.correlated(ledger);
    }
    if from < before {
        forget_from(connection, ledger.number, from)?;
    }
    let open_turn = put(connection, ledger.number, &entries, &records.all)?;
    Ok(settled(&entries, open_turn, ledger.entry.last_seq))
}

/// The records after `from`: those up to `before` from the log, then the new ones.
fn read_from(
    connection: &Connection,
    ledger: &Ledger,
    from: u64,
    before: u64,
    fresh: &[&LogRecord],
) -> rusqlite::Result<DecodedRecords> {
    let mut records = DecodedRecords::default();
    if from < before {
        log::walk(connection, ledger.number, from + 1, &mut |entry| {
            if entry.seq > before {
                return ControlFlow::Break(());
            }
            if let Some(content) = entry.content {
                records.push(ledger, entry.seq, content);
            }
            ControlFlow::Continue(())
        })?;
    }
    for (seq, record) in (before + 1..).zip(fresh) {
        let content = LogContent { tool_use_id: record.tool_use_id.as_deref(), bytes: &record.bytes };
        records.push(ledger, seq, content);
    }
    Ok(records)
}

/// The position from which rows must be derived again because a new record may belong to a settled call: an answer, a
/// batch or another request with its id. A permission request or an answer that has no id, and that matches no call
/// among the new entries, may belong to any call, so everything is derived again.
fn reaches_back(
    connection: &Connection,
    ledger: &Ledger,
    (settled, before): (u64, u64),
    entries: &[Entry],
) -> rusqlite::Result<Option<u64>> {
    if settled == 0 {
        return Ok(None);
    }
    let mut newest = connection.prepare(
        "SELECT seq, last_seq, ended_ms IS NOT NULL, batch_seq IS NOT NULL FROM calls
         WHERE tool_use_id = ? AND session = ? AND seq <= ? ORDER BY seq DESC, place DESC LIMIT 1",
    )?;
    let mut furthest: Option<u64> = None;
    for entry in entries {
        let reached = match entry {
            Entry::Event(event) => (event.event == "PermissionRequest").then_some(1),
            Entry::Call(call) if call.tool_use_id.is_empty() => call.asked.is_none().then_some(1),
            Entry::Call(call) => {
                let key = params![call.tool_use_id, ledger.number, number(settled)];
                let known = newest
                    .query_row(key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
                    .optional()?;
                match known {
                    None => None,
                    Some((seq, last, is_answered, has_batch)) => {
                        let only_batch = call.records.is_empty();
                        let is_closed = is_answered
                            && (has_batch || !only_batch)
                            && turn_ended(connection, ledger.number, last, before)?;
                        (!is_closed).then_some(i64::cast_unsigned(seq))
                    }
                }
            }
        };
        furthest = furthest.into_iter().chain(reached).min();
    }
    furthest.map(|seq| whole(connection, ledger.number, seq.saturating_sub(1), settled)).transpose()
}

/// Whether a turn ended after the record `last` and up to `before`. A call that was answered in a finished turn is
/// closed: later records with its id belong to another call. Only its batch may come later, if it had none.
fn turn_ended(connection: &Connection, session: i64, last: i64, before: u64) -> rusqlite::Result<bool> {
    let ending = |after_compaction| {
        let names = EventName::ALL.iter().filter(|name| TurnEnd::of(**name, after_compaction).is_some());
        names.map(|name| format!("'{}'", name.as_str())).collect::<Vec<_>>().join(", ")
    };
    let mut statement = connection.prepare(&format!(
        "SELECT 1 FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3
            AND CASE subject WHEN '{}' THEN event IN ({}) ELSE event IN ({}) END",
        SessionSource::Compact.as_str(),
        ending(true),
        ending(false),
    ))?;
    statement.exists(params![session, last, number(before)])
}

/// `from`, or as far before it as needed so that no call lies on both sides.
fn whole(connection: &Connection, session: i64, from: u64, settled: u64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT min(call) FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 AND call <= ?2
         UNION ALL SELECT min(seq) FROM calls WHERE session = ?1 AND seq <= ?2 AND batch_seq > ?2
            AND EXISTS (SELECT 1 FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 AND event = 'PostToolBatch')",
    )?;
    let mut from = from;
    loop {
        let mut cut = statement
            .query_map(params![session, number(from), number(settled)], |row| row.get::<_, Option<i64>>(0))?;
        let first = cut.by_ref().collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().min();
        match first {
            Some(seq) => from = seq.cast_unsigned().saturating_sub(1),
            None => return Ok(from),
        }
    }
}

/// The position before which nothing can change any more: not after an open turn or call, and not inside a
/// call.
pub fn settled(entries: &[Entry], open_turn: Option<u64>, last: u64) -> u64 {
    let calls: Vec<(u64, u64, bool)> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Call(call) => {
                let end = call.records.last().map(|part| part.seq).max(call.batch_seq).unwrap_or(0);
                Some((call.first_seq(), end, call.evidence == Evidence::Open))
            }
            Entry::Event(_) => None,
        })
        .collect();
    let open_call = calls.iter().filter(|(.., open)| *open).map(|(first, ..)| *first).min();
    let open = [open_turn, open_call].into_iter().flatten().min();
    let mut settled = open.map_or(last, |seq| seq.saturating_sub(1)).max(last.saturating_sub(FURTHEST));
    while let Some((first, ..)) = calls.iter().find(|(first, end, _)| *first <= settled && *end > settled) {
        settled = first.saturating_sub(1);
    }
    settled
}

/// Inserts the rows of entries made from these records; returns the number of the prompt of an unfinished turn.
pub(super) fn put(
    connection: &Connection,
    session: i64,
    entries: &[Entry],
    records: &[(u64, EventRecord)],
) -> rusqlite::Result<Option<u64>> {
    derive::derive_rows(session, entries, records, &mut Insert { connection, statements: Default::default() })
}

/// Inserts rows into their tables.
struct Insert<'a> {
    connection: &'a Connection,
    statements: [Option<CachedStatement<'a>>; TABLES.len()],
}

impl Rows for Insert<'_> {
    type Error = rusqlite::Error;

    fn row(&mut self, table: usize, row: &[Field<'_>]) -> rusqlite::Result<()> {
        let statement = match &mut self.statements[table] {
            Some(statement) => statement,
            none => {
                let derive::Table { name, columns, .. } = &TABLES[table];
                let marks = "?, ".repeat(row.len() - 1);
                let asked = format!("INSERT INTO {name} ({columns}) VALUES ({marks}?)");
                none.insert(self.connection.prepare_cached(&asked)?)
            }
        };
        statement.execute(params_from_iter(row)).map(|_| ())
    }
}

/// A stored record by its content; one that cannot be decoded has this time and no content.
pub fn stored_record(content: LogContent<'_>, fallback_ms: i64) -> EventRecord {
    let record = decode_record(content.bytes).unwrap_or_else(|_| unreadable(fallback_ms));
    EventRecord { tool_use_id: content.tool_use_id.map(str::to_owned), ..record }
}

fn unreadable(at_ms: i64) -> EventRecord {
    EventRecord {
        at_ms,
        tool_use_id: None,
        payload: String::new(),
        took_us: 0,
        link: None,
        ruling: None,
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    }
}

/// Removes the rows of the records after `seq`; returns how many there were.
pub(super) fn forget_from(connection: &Connection, session: i64, seq: u64) -> rusqlite::Result<usize> {
    let mut removed = 0;
    for table in &TABLES {
        let asked = format!("DELETE FROM {} WHERE session = ? AND seq > ?", table.name);
        removed += connection.prepare_cached(&asked)?.execute(params![session, number(seq)])?;
    }
    Ok(removed)
}
