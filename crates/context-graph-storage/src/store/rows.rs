//! What records tell, as rows: calls, events, decisions, files, turns, injections.
//!
//! A call lies in several records, and what became of it may show much later. So rows are made from the records behind
//! the last place up to which everything is settled, and made again while it is not.

use std::collections::HashMap;
use std::ops::ControlFlow;

use context_graph_core::audit::{Call, Decided, Entry, Evidence, Happening, Origin, correlate};
use context_graph_core::session::EventRecord;
use rusqlite::{Connection, named_params, params};

use super::write::{Ledger, number};
use super::{LogRecord, log};
use crate::sessions::decode_record;

/// The tables of what records tell, by session and number.
pub(super) const TOLD: [&str; 6] = ["calls", "events", "decisions", "files", "turns", "injections"];

/// No further back than this is looked for calls without an answer: one that never gets any must not make every later
/// turn cost more.
const FURTHEST: u64 = 1000;

/// Tells the records behind `before`, which were appended just now, and says up to where everything is settled.
pub(super) fn tell(
    connection: &Connection,
    ledger: &Ledger,
    before: u64,
    fresh: &[&LogRecord],
) -> rusqlite::Result<u64> {
    let mut from = ledger.settled.min(before);
    let mut records = read_from(connection, ledger, from, before, fresh)?;
    let mut entries = correlated(ledger, &records);
    if from > 0 && reaches_back(connection, ledger, from, &entries)? {
        from = 0;
        records = read_from(connection, ledger, from, before, fresh)?;
        entries = correlated(ledger, &records);
    }
    if from < before {
        forget_from(connection, ledger.number, from)?;
    }
    let open_turn = put(connection, ledger.number, &entries, &records)?;
    Ok(settled(&entries, open_turn, ledger.entry.last_seq))
}

/// The records behind `from`: those up to `before` from the log, then the fresh ones.
fn read_from(
    connection: &Connection,
    ledger: &Ledger,
    from: u64,
    before: u64,
    fresh: &[&LogRecord],
) -> rusqlite::Result<Vec<(u64, EventRecord)>> {
    let mut records = Vec::with_capacity(fresh.len());
    if from < before {
        log::walk(connection, ledger.number, from + 1, &mut |entry| {
            if entry.seq > before {
                return ControlFlow::Break(());
            }
            if let Some(content) = entry.content {
                records.push((entry.seq, read(ledger, content.tool_use_id, content.bytes)));
            }
            ControlFlow::Continue(())
        })?;
    }
    let appended = (before + 1..).zip(fresh);
    records.extend(
        appended.map(|(seq, record)| (seq, read(ledger, record.tool_use_id.as_deref(), &record.bytes))),
    );
    Ok(records)
}

fn correlated(ledger: &Ledger, records: &[(u64, EventRecord)]) -> Vec<Entry> {
    let project = ledger.entry.project.as_deref().unwrap_or_default();
    let origin = Origin { session_id: &ledger.entry.session_id, project };
    correlate(origin, records.iter().map(|(seq, record)| (*seq, record)))
}

/// Whether something here may belong to a call that counted as settled: an answer, a batch or another asking by its id;
/// a request or an answer without one that nothing here fits. Then everything is told again.
fn reaches_back(
    connection: &Connection,
    ledger: &Ledger,
    settled: u64,
    entries: &[Entry],
) -> rusqlite::Result<bool> {
    let mut statement = connection
        .prepare_cached("SELECT 1 FROM calls WHERE tool_use_id = ? AND session = ? AND seq <= ?")?;
    for entry in entries {
        let reaches = match entry {
            Entry::Event(event) => event.event == "PermissionRequest",
            Entry::Call(call) if call.tool_use_id.is_empty() => call.asked.is_none(),
            Entry::Call(call) => {
                statement.exists(params![call.tool_use_id, ledger.number, number(settled)])?
            }
        };
        if reaches {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Up to where nothing can change any more: not behind a turn or a call that is open, and not within a call.
fn settled(entries: &[Entry], open_turn: Option<u64>, last: u64) -> u64 {
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

/// Tells entries, which were made from these records; the number of the prompt of a turn that is not over.
pub(super) fn put(
    connection: &Connection,
    session: i64,
    entries: &[Entry],
    records: &[(u64, EventRecord)],
) -> rusqlite::Result<Option<u64>> {
    let mut telling = Telling { connection, session, records, places: HashMap::new() };
    for entry in entries {
        match entry {
            Entry::Call(call) => telling.call(call)?,
            Entry::Event(happening) => telling.event(happening)?,
        }
    }
    telling.injections()?;
    telling.turns(entries)
}

/// A record as it was stored; one that cannot be read is an event that says nothing.
fn read(ledger: &Ledger, tool_use_id: Option<&str>, bytes: &[u8]) -> EventRecord {
    let tool_use_id = tool_use_id.map(str::to_owned);
    if let Ok(record) = decode_record(bytes) {
        return EventRecord { tool_use_id, ..record };
    }
    EventRecord {
        at_ms: ledger.entry.timestamp_ms,
        tool_use_id,
        payload: String::new(),
        took_us: 0,
        link: None,
        ruling: None,
        updated_input: None,
        cuts: Vec::new(),
    }
}

/// Removes what was told of the records behind `seq`; says how many rows those were.
pub(super) fn forget_from(connection: &Connection, session: i64, seq: u64) -> rusqlite::Result<usize> {
    let mut removed = 0;
    for table in TOLD {
        let asked = format!("DELETE FROM {table} WHERE session = ? AND seq > ?");
        removed += connection.prepare_cached(&asked)?.execute(params![session, number(seq)])?;
    }
    Ok(removed)
}

struct Telling<'a> {
    connection: &'a Connection,
    session: i64,
    records: &'a [(u64, EventRecord)],
    /// How many calls without a record of their own were told of each batch.
    places: HashMap<u64, i64>,
}

impl Telling<'_> {
    fn call(&mut self, call: &Call) -> rusqlite::Result<()> {
        let seq = call.first_seq();
        let place = if call.records.is_empty() {
            let place = self.places.entry(seq).or_default();
            *place += 1;
            *place
        } else {
            0
        };
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO calls (session, seq, place, last_seq, at_ms, ended_ms, tool_use_id, tool, mcp_server, agent_id,
                agent_type, prompt_id, permission_mode, subject, verdict, outcome, evidence, duration_ms, between_ms,
                permission_asked, deferrals, batch_seq, error)
             VALUES (:session, :seq, :place, :last_seq, :at_ms, :ended_ms, :tool_use_id, :tool, :mcp_server, :agent_id,
                :agent_type, :prompt_id, :permission_mode, :subject, :verdict, :outcome, :evidence, :duration_ms,
                :between_ms, :permission_asked, :deferrals, :batch_seq, :error)",
        )?;
        let ruling = call.ruling();
        statement.execute(named_params! {
            ":session": self.session,
            ":seq": number(seq),
            ":place": place,
            ":last_seq": number(call.records.last().map_or(seq, |part| part.seq)),
            ":at_ms": call.at_ms,
            ":ended_ms": call.ended_ms,
            ":tool_use_id": said(&call.tool_use_id),
            ":tool": call.tool,
            ":mcp_server": call.mcp_server,
            ":agent_id": call.agent.id,
            ":agent_type": call.agent.kind,
            ":prompt_id": call.prompt_id,
            ":permission_mode": call.permission_mode,
            ":subject": call.subject,
            ":verdict": ruling.map(|ruling| &ruling.verdict),
            ":outcome": call.outcome.as_str(),
            ":evidence": call.evidence.as_str(),
            ":duration_ms": call.duration_ms.map(number),
            ":between_ms": call.between_ms.map(number),
            ":permission_asked": call.permission_asked,
            ":deferrals": call.deferrals,
            ":batch_seq": call.batch_seq.map(number),
            ":error": call.error.as_ref().map(|error| beginning(error)),
        })?;
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO events (session, seq, at_ms, event, hook_us, call) VALUES (?, ?, ?, ?, ?, ?)",
        )?;
        for part in &call.records {
            let (own, seq) = (number(part.seq), number(seq));
            statement.execute(params![self.session, own, part.at_ms, part.event, part.took_us, seq])?;
        }
        self.decisions(seq, place, &call.decided, ruling)?;
        self.files(seq, place, &call.paths)
    }

    fn event(&mut self, happening: &Happening) -> rusqlite::Result<()> {
        let seq = happening.seq;
        let record = self.record(seq);
        let tool_use_id = record.and_then(|record| record.tool_use_id.as_deref()).filter(|id| !id.is_empty());
        let decided = happening.decided.as_ref();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO events (session, seq, at_ms, event, hook_us, tool_use_id, agent_id, agent_type, prompt_id,
                verdict, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        statement.execute(params![
            self.session,
            number(seq),
            happening.at_ms,
            happening.event,
            happening.took_us,
            tool_use_id,
            happening.agent.id,
            happening.agent.kind,
            happening.prompt_id,
            decided.map(|decided| &decided.verdict),
            said(&happening.subject),
        ])?;
        self.decisions(seq, 0, happening.decided.as_slice(), decided)?;
        self.files(seq, 0, &happening.paths)
    }

    fn record(&self, seq: u64) -> Option<&EventRecord> {
        self.records.binary_search_by_key(&seq, |(seq, _)| *seq).ok().map(|at| &self.records[at].1)
    }

    fn decisions(
        &self,
        seq: u64,
        place: i64,
        decided: &[Decided],
        counted: Option<&Decided>,
    ) -> rusqlite::Result<()> {
        let mut position = 0;
        for decision in decided {
            let counts = counted.is_some_and(|counted| std::ptr::eq(counted, decision));
            let rules = decision.rules.iter().map(Some);
            let none = decision.rules.is_empty().then_some(None);
            for rule in rules.chain(none) {
                let Decided { event, verdict, reason, .. } = decision;
                let mut statement = self.connection.prepare_cached(
                    "INSERT INTO decisions (session, seq, place, position, event, verdict, rule, reason, counted)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?;
                let at = (self.session, number(seq), place, position);
                statement.execute(params![at.0, at.1, at.2, at.3, event, verdict, rule, reason, counts])?;
                position += 1;
            }
        }
        Ok(())
    }

    fn files(&self, seq: u64, place: i64, paths: &[String]) -> rusqlite::Result<()> {
        for (position, path) in (0_i64..).zip(paths) {
            let mut statement = self.connection.prepare_cached(
                "INSERT INTO files (session, seq, place, position, path) VALUES (?, ?, ?, ?, ?)",
            )?;
            statement.execute(params![self.session, number(seq), place, position, path])?;
        }
        Ok(())
    }

    fn injections(&self) -> rusqlite::Result<()> {
        for (seq, record) in self.records {
            let link = record.link.as_ref().map(|link| ("previous_session", &link.session_id));
            let added = record.ruling.as_ref().filter(|ruling| ruling.verdict == "add_context");
            let context = added.map(|ruling| ("context", &ruling.reason));
            let input = record.updated_input.as_ref().map(|input| ("input", input));
            for (position, (kind, content)) in (0_i64..).zip([link, context, input].into_iter().flatten()) {
                let mut statement = self.connection.prepare_cached(
                    "INSERT INTO injections (session, seq, position, kind, content) VALUES (?, ?, ?, ?, ?)",
                )?;
                statement.execute(params![self.session, number(*seq), position, kind, content])?;
            }
        }
        Ok(())
    }

    /// Tells the turns; the number of the prompt of one that is not over.
    fn turns(&self, entries: &[Entry]) -> rusqlite::Result<Option<u64>> {
        let mut open: Option<&Happening> = None;
        for entry in entries {
            let Entry::Event(event) = entry else { continue };
            let ended_by = match event.event.as_str() {
                "Stop" | "StopFailure" => "stopped",
                // After a compaction the same turn goes on.
                "SessionStart" if event.subject == "compact" => continue,
                "UserPromptSubmit" | "SessionStart" | "SessionEnd" => "broken_off",
                _ => continue,
            };
            if let Some(turn) = open.take() {
                self.turn(turn, Some((event.at_ms, ended_by)))?;
            }
            open = (event.event == "UserPromptSubmit").then_some(event);
        }
        if let Some(turn) = open {
            self.turn(turn, None)?;
        }
        Ok(open.map(|turn| turn.seq))
    }

    fn turn(&self, turn: &Happening, end: Option<(i64, &str)>) -> rusqlite::Result<()> {
        let (ended_ms, ended_by) = end.unzip();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO turns (session, seq, at_ms, ended_ms, ended_by, prompt) VALUES (?, ?, ?, ?, ?, ?)",
        )?;
        let seq = number(turn.seq);
        statement.execute(params![self.session, seq, turn.at_ms, ended_ms, ended_by, turn.subject])?;
        Ok(())
    }
}

/// How much of an error is told; the record has all of it.
const ERROR_LETTERS: usize = 300;

fn beginning(error: &str) -> &str {
    error.char_indices().nth(ERROR_LETTERS).map_or(error, |(end, _)| &error[..end])
}

/// What was not said is no value.
fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
