//! Storing a fold: all or nothing, in one transaction.

use std::ops::Deref;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use rusqlite::{Connection, params};

use super::ledger::{Ledger, find};
use super::open::Begun;
use super::sessions::{SNAPSHOT, STATE};
use super::{Change, FoldBatch, LogRecord, MAX_PROJECT_BYTES, SessionRow, Store, log, rows};
use crate::codec;
use crate::error::{Result, StorageError};
use crate::live::Position;
use crate::seal::Seal;
use crate::session_key::SessionKey;

/// The longest id of a tool call in a record, in bytes.
pub(super) const MAX_CALL_ID_BYTES: usize = u16::MAX as usize - 2;

impl Store {
    /// Stores a fold durably, in one transaction, and returns the number of the session's last record. Storing
    /// the same journal entries again adds nothing.
    pub fn commit_fold(&self, batch: &FoldBatch) -> Result<u64> {
        self.commit(batch).map(|entry| entry.last_seq)
    }

    /// Stores a fold and returns the session's list entry.
    fn commit(&self, batch: &FoldBatch) -> Result<SessionRow> {
        self.begin_fold(&batch.snapshot.session_id)?.put(batch, None)?.commit()
    }

    /// Begins to store a fold: nobody else can change the session until it is stored.
    pub(crate) fn begin_fold(&self, id: &str) -> Result<BegunFold<'_>> {
        SessionKey::new(id)?;
        let writing = self.begin()?;
        let known = self.run(|_| find(&writing, id))?;
        Ok(BegunFold { store: self, writing, known })
    }

    /// Loads a snapshot and stores the result of `change`, in one transaction; returns what was stored.
    pub fn update(&self, id: &str, change: Change<'_>) -> Result<SessionIdentitySnapshot> {
        let begun = self.begin_fold(id)?;
        let batch = change(self.snapshot(id)?)?;
        if batch.snapshot.session_id != id {
            let problem = format!("snapshot of {:?} under the id {id:?}", batch.snapshot.session_id);
            return Err(StorageError::InvalidData(problem));
        }
        begun.put(&batch, None)?.commit()?;
        Ok(batch.snapshot)
    }

    /// Begins a write transaction, as soon as nobody else writes. If opening the store began one, that one is used.
    pub(super) fn begin(&self) -> Result<Writing<'_>> {
        if self.begun.get() != Begun::Write {
            self.end_look()?;
            self.run(|store| store.connection.execute_batch("BEGIN IMMEDIATE"))?;
        }
        self.begun.set(Begun::Nothing);
        Ok(Writing { connection: &self.connection, is_committed: false })
    }
}

/// A transaction that will store a fold of one session.
pub(crate) struct BegunFold<'a> {
    store: &'a Store,
    writing: Writing<'a>,
    known: Option<Ledger>,
}

impl<'a> BegunFold<'a> {
    /// How far the session's journal is folded already.
    pub(crate) fn folded_to(&self) -> Option<Position> {
        self.known.as_ref().and_then(|ledger| ledger.entry.folded_to)
    }

    /// Writes the fold, which contains nothing from before the position `forgotten`. It is not durable yet.
    pub(crate) fn put(self, batch: &FoldBatch, forgotten: Option<Position>) -> Result<WrittenFold<'a>> {
        let Self { store, writing, known } = self;
        validate(batch)?;
        if known.is_none() {
            store.refuse_forgotten(batch, forgotten)?;
        }
        let entry = store.run(|_| put(&store.seal, &writing, known, batch))?;
        Ok(WrittenFold { store, writing, entry })
    }
}

/// A fold that is written, but not durable yet. It is undone unless it is committed.
pub(crate) struct WrittenFold<'a> {
    store: &'a Store,
    writing: Writing<'a>,
    entry: SessionRow,
}

impl WrittenFold<'_> {
    /// Makes it durable, and returns the session's list entry.
    pub(crate) fn commit(self) -> Result<SessionRow> {
        let Self { store, writing, entry } = self;
        store.run(|_| writing.commit())?;
        Ok(entry)
    }
}

/// A write transaction. It is undone unless it is committed.
pub(super) struct Writing<'a> {
    connection: &'a Connection,
    is_committed: bool,
}

impl Writing<'_> {
    /// Stores everything that was written, durably.
    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")?;
        self.is_committed = true;
        Ok(())
    }
}

impl Deref for Writing<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // SQLite itself undoes a transaction after some errors.
        if !self.is_committed && !self.connection.is_autocommit() {
            // If this fails too, closing the connection undoes it.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
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

fn put(
    seal: &Seal,
    connection: &Connection,
    known: Option<Ledger>,
    batch: &FoldBatch,
) -> rusqlite::Result<SessionRow> {
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
    let has_other_previous = entry.previous_session_id != batch.snapshot.previous_session_id;
    entry.timestamp_ms = batch.snapshot.timestamp_ms;
    entry.previous_session_id.clone_from(&batch.snapshot.previous_session_id);
    entry.folded_to = batch.folded_to.or(entry.folded_to);
    entry.project = batch.project.clone().or(entry.project.take());
    entry.duration_ms = batch.duration_ms.or(entry.duration_ms);
    ledger.about = batch.about.clone().or(ledger.about.take());
    if !fresh.is_empty() {
        ledger.settled = rows::tell(connection, &ledger, before, &fresh)?;
    }
    if is_new {
        ledger.insert(seal, connection)?;
    } else {
        ledger.update(seal, connection, has_other_previous)?;
    }
    put_state(seal, connection, ledger.number, batch)?;
    Ok(ledger.entry)
}

fn begin_session(connection: &Connection, batch: &FoldBatch) -> rusqlite::Result<Ledger> {
    let number = next_number(connection)?;
    let snapshot = &batch.snapshot;
    let entry = SessionRow {
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
    Ok(Ledger { number, settled: 0, entry, about: None })
}

/// The number of a new session. The stored counter may have been changed: a number that a session has, or had, is
/// never given again.
fn next_number(connection: &Connection) -> rusqlite::Result<i64> {
    let counted = counted(connection, LAST_SESSION)?;
    let counted = if counted < MAX_NUMBER { counted } else { 0 };
    let number = counted.max(last_number(connection)?).saturating_add(1);
    set_last_number(connection, number)?;
    Ok(number)
}

/// A counter beyond this was not reached by counting.
const MAX_NUMBER: i64 = 1 << 48;

/// The name of the counter of sessions.
pub(super) const LAST_SESSION: &str = "last_session";

/// The highest number that a session has, or had.
pub(super) fn last_number(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare(
        "SELECT max((SELECT coalesce(max(number), 0) FROM sessions),
                    (SELECT coalesce(max(session), 0) FROM tombstones))",
    )?;
    statement.query_row([], |row| row.get(0))
}

/// Sets the counter of sessions.
pub(super) fn set_last_number(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    connection
        .prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)")?
        .execute(params![LAST_SESSION, number.to_string()])
        .map(|_| ())
}

/// The value of a counter.
pub(super) fn counted(connection: &Connection, what: &str) -> rusqlite::Result<i64> {
    let asked = "SELECT coalesce((SELECT CAST(value AS BIGINT) FROM meta WHERE name = ?), 0)";
    connection.prepare(asked)?.query_row([what], |row| row.get(0))
}

/// The next value of a counter.
pub(super) fn count_up(connection: &Connection, what: &str) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare(
        "INSERT INTO meta (name, value) VALUES (?, '1')
         ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)
         RETURNING CAST(value AS BIGINT)",
    )?;
    statement.query_row([what], |row| row.get(0))
}

/// Whether the record of the journal entry that ended at `source` is already in the log.
pub(super) fn contains(folded: Option<Position>, source: Option<Position>) -> bool {
    matches!((folded, source), (Some(folded), Some(source))
        if folded.generation == source.generation && source.offset <= folded.offset)
}

/// Stores the snapshot of a batch, and its state if it has one.
pub(super) fn put_state(
    seal: &Seal,
    connection: &Connection,
    number: i64,
    batch: &FoldBatch,
) -> rusqlite::Result<()> {
    let id = &batch.snapshot.session_id;
    let snapshot = seal.enclose(SNAPSHOT, id, &codec::encode(&batch.snapshot).map_err(unencodable)?);
    let state = batch.state.as_ref().map(|state| seal.enclose(STATE, id, state));
    connection
        .prepare(
            "INSERT INTO states (session, snapshot, state) VALUES (?, ?, ?)
             ON CONFLICT (session) DO UPDATE SET snapshot = excluded.snapshot,
                state = coalesce(excluded.state, states.state)",
        )?
        .execute(params![number, snapshot, state])?;
    Ok(())
}

/// Wraps an error that is not SQLite's own.
fn unencodable(error: StorageError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// A count in the type of the tables.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
