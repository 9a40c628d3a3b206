//! Storing a fold: all or nothing, in one transaction.

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, named_params, params};

use super::sessions::{ENTRY, SNAPSHOT, STATE, read_entry};
use super::{Chain, Change, FoldBatch, LogRecord, MAX_PROJECT_BYTES, SessionEntry, Store, log, rows};
use crate::codec;
use crate::error::{Result, StorageError};
use crate::live::Position;
use crate::seal::Seal;
use crate::session_key::SessionKey;

/// Longest id of a tool call that a record can hold.
pub(super) const MAX_CALL_ID_BYTES: usize = u16::MAX as usize - 2;

/// A session in the store, as a writer needs it.
pub(super) struct Ledger {
    pub(super) number: i64,
    pub(super) settled: u64,
    pub(super) entry: SessionEntry,
}

impl Store {
    /// Stores a fold durably, in one transaction, and returns the number of the session's last record. Storing the
    /// same journal entries again adds nothing.
    pub fn commit_fold(&self, batch: &FoldBatch) -> Result<u64> {
        validate(batch)?;
        let transaction = self.begin()?;
        let last = self.settle(|_| put(&self.seal, &transaction, batch))?;
        self.settle(|_| transaction.commit())?;
        Ok(last)
    }

    /// Loads a snapshot and stores what `change` makes of it, in one transaction; returns what was stored.
    pub fn update(&self, id: &str, change: Change<'_>) -> Result<SessionIdentitySnapshot> {
        SessionKey::new(id)?;
        let transaction = self.begin()?;
        let batch = change(self.snapshot(id)?)?;
        if batch.snapshot.session_id != id {
            let problem = format!("snapshot of {:?} under the id {id:?}", batch.snapshot.session_id);
            return Err(StorageError::InvalidData(problem));
        }
        validate(&batch)?;
        self.settle(|_| put(&self.seal, &transaction, &batch))?;
        self.settle(|_| transaction.commit())?;
        Ok(batch.snapshot)
    }

    /// Begins to write, as soon as nobody else does.
    pub(super) fn begin(&self) -> Result<Transaction<'_>> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(|error| self.failure(error))
    }
}

fn validate(batch: &FoldBatch) -> Result<()> {
    SessionKey::new(&batch.snapshot.session_id)?;
    let too_long = |what: &str, length: usize, limit: usize| {
        Err(StorageError::InvalidData(format!("{what} has {length} bytes, the limit is {limit}")))
    };
    if let Some(project) = batch.project.as_ref().filter(|project| project.len() > MAX_PROJECT_BYTES) {
        return too_long("the project's name", project.len(), MAX_PROJECT_BYTES);
    }
    let mut calls = batch.records.iter().filter_map(|record| record.tool_use_id.as_ref().map(String::len));
    match calls.find(|length| *length > MAX_CALL_ID_BYTES) {
        Some(length) => too_long("a tool call's id", length, MAX_CALL_ID_BYTES),
        None => Ok(()),
    }
}

fn put(seal: &Seal, connection: &Connection, batch: &FoldBatch) -> rusqlite::Result<u64> {
    let id = &batch.snapshot.session_id;
    let known = find(connection, id)?;
    let is_new = known.is_none();
    let mut ledger = match known {
        Some(ledger) => ledger,
        None => begin_session(connection, batch)?,
    };
    let fresh: Vec<&LogRecord> =
        batch.records.iter().filter(|record| !contains(ledger.entry.folded_to, record.source)).collect();
    let before = ledger.entry.last_seq;
    log::append(connection, &mut ledger, &fresh)?;
    let entry = &mut ledger.entry;
    entry.timestamp_ms = batch.snapshot.timestamp_ms;
    entry.previous_session_id.clone_from(&batch.snapshot.previous_session_id);
    entry.folded_to = batch.folded_to.or(entry.folded_to);
    entry.project = batch.project.clone().or(entry.project.take());
    entry.duration_ms = batch.duration_ms.or(entry.duration_ms);
    if !fresh.is_empty() {
        ledger.settled = rows::tell(connection, &ledger, before, &fresh)?;
    }
    put_session(connection, &ledger, batch, is_new)?;
    put_state(seal, connection, ledger.number, batch)?;
    Ok(ledger.entry.last_seq)
}

/// The session of this id.
pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Ledger>> {
    let asked = format!("SELECT {ENTRY}, number, settled FROM sessions WHERE session_id = ?");
    let mut statement = connection.prepare_cached(&asked)?;
    statement
        .query_row([id], |row| {
            Ok(Ledger {
                number: row.get("number")?,
                settled: row.get::<_, i64>("settled")?.try_into().unwrap_or(0),
                entry: read_entry(row)?,
            })
        })
        .optional()
}

fn begin_session(connection: &Connection, batch: &FoldBatch) -> rusqlite::Result<Ledger> {
    let number = count_up(connection, "last_session")?;
    let snapshot = &batch.snapshot;
    let entry = SessionEntry {
        session_id: snapshot.session_id.clone(),
        timestamp_ms: snapshot.timestamp_ms,
        first_stored_ms: snapshot.timestamp_ms,
        previous_session_id: None,
        project: None,
        duration_ms: None,
        last_seq: 0,
        folded_to: None,
        chain: None,
    };
    Ok(Ledger { number, settled: 0, entry })
}

/// The next of the numbers that are given once.
pub(super) fn count_up(connection: &Connection, what: &str) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?, '1')
         ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)
         RETURNING CAST(value AS BIGINT)",
    )?;
    statement.query_row([what], |row| row.get(0))
}

/// Whether a record made from the journal entry that ended at `source` is in the log already.
fn contains(folded: Option<Position>, source: Option<Position>) -> bool {
    matches!((folded, source), (Some(folded), Some(source))
        if folded.generation == source.generation && source.offset <= folded.offset)
}

pub(super) fn put_session(
    connection: &Connection,
    ledger: &Ledger,
    batch: &FoldBatch,
    is_new: bool,
) -> rusqlite::Result<()> {
    let entry = &ledger.entry;
    if is_new {
        connection
            .prepare_cached(
                "INSERT INTO sessions (number, session_id, updated_ms, first_stored_ms, records, settled)
                 VALUES (?, ?, ?, ?, 0, 0)",
            )?
            .execute(params![ledger.number, entry.session_id, entry.timestamp_ms, entry.first_stored_ms])?;
    }
    let folded = entry.folded_to;
    connection
        .prepare_cached(
            "UPDATE sessions SET project = :project, previous_id = :previous, updated_ms = :updated,
                duration_ms = :duration, records = :records, chain = :chain, settled = :settled,
                generation = :generation, folded = :folded, folded_check = :check
             WHERE number = :number",
        )?
        .execute(named_params! {
            ":project": entry.project,
            ":previous": entry.previous_session_id,
            ":updated": entry.timestamp_ms,
            ":duration": entry.duration_ms.map(number),
            ":records": number(entry.last_seq),
            ":chain": entry.chain.as_ref().map(|chain| &chain.as_bytes()[..]),
            ":settled": number(ledger.settled),
            ":generation": folded.map(|place| place.generation.cast_signed()),
            ":folded": folded.map(|place| place.offset.cast_signed()),
            ":check": folded.map(|place| place.check.cast_signed()),
            ":number": ledger.number,
        })?;
    let Some(about) = &batch.about else { return Ok(()) };
    let [prompts, calls, failures] = about.counts.map(number);
    connection
        .prepare_cached(
            "UPDATE sessions SET started_ms = :started, ended_ms = :ended, end_reason = :reason,
                end_status = :status, lifecycle = :lifecycle, model = :model, cwd = :cwd, transcript_path = :transcript,
                prompts = :prompts, calls = :calls, failures = :failures, continuity = :continuity
             WHERE number = :number",
        )?
        .execute(named_params! {
            ":started": about.started_ms,
            ":ended": about.ended_ms,
            ":reason": about.end_reason,
            ":status": about.end_status,
            ":lifecycle": about.lifecycle,
            ":model": about.model,
            ":cwd": about.cwd,
            ":transcript": about.transcript_path,
            ":prompts": prompts,
            ":calls": calls,
            ":failures": failures,
            ":continuity": about.continuity,
            ":number": ledger.number,
        })?;
    Ok(())
}

fn put_state(seal: &Seal, connection: &Connection, number: i64, batch: &FoldBatch) -> rusqlite::Result<()> {
    let id = &batch.snapshot.session_id;
    let snapshot = seal.enclose(SNAPSHOT, id, &codec::encode(&batch.snapshot).map_err(unencodable)?);
    let state = batch.state.as_ref().map(|state| seal.enclose(STATE, id, state));
    connection
        .prepare_cached(
            "INSERT INTO states (session, snapshot, state) VALUES (?, ?, ?)
             ON CONFLICT (session) DO UPDATE SET snapshot = excluded.snapshot,
                state = coalesce(excluded.state, states.state)",
        )?
        .execute(params![number, snapshot, state])?;
    Ok(())
}

/// An error that is not SQLite's own, carried through it.
fn unencodable(error: StorageError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// A count as the tables have it.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The link that a session's next record follows.
pub(super) fn chain_of(ledger: &Ledger) -> Chain {
    let begin = || Chain::begin(ledger.number.cast_unsigned(), &ledger.entry.session_id);
    ledger.entry.chain.unwrap_or_else(begin)
}
