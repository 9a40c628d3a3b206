//! What a session store must do, in plain data. Engines implement it; the conformance suite in `tests/` says
//! whether they do it right.
//!
//! Every write is one durable transaction. Reads see one consistent moment and never make a writer wait.

mod block;
pub mod chain;
mod check;
pub mod engine;
mod forget;
mod glance;
mod keyed;
mod keys;
mod ledger;
mod lmdb;
mod lmdb_file;
mod lmdb_page;
mod lmdb_pages;
mod lmdb_scrub;
mod lmdb_txn;
mod log;
mod memory;
mod mend;
mod rows;
mod sealed;
mod short_hash;
mod tombstone;
mod verify;

pub use chain::Chain;
pub use glance::GlanceEngine;
pub use keyed::KeyedStore;
pub use lmdb::{LmdbEngine, LmdbOptions};
pub use lmdb_file::SUSPICION;
pub use memory::MemoryEngine;
pub use tombstone::{Tombstone, Why};
pub use verify::{Break, ChainReport};

use std::ops::ControlFlow;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;

use crate::error::Result;
use crate::live::Position;

/// Sessions in LMDB: the store of the product.
pub type LmdbStore = KeyedStore<LmdbEngine>;

/// Sessions in LMDB's file, looked at without opening it.
pub type Glance = KeyedStore<GlanceEngine>;

/// Sessions in memory, for tests and as the second subject of the conformance suite.
pub type MemoryStore = KeyedStore<MemoryEngine>;

/// Longest project key that is accepted, in bytes.
pub const MAX_PROJECT_BYTES: usize = 4096;

/// One record for the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRecord {
    /// The tool call it belongs to; empty ones are kept but not indexed.
    pub tool_use_id: Option<String>,
    /// The record, opaque here.
    pub bytes: Vec<u8>,
    /// Where the journal entry ended that the record was made from; none for one that was never in a journal.
    pub source: Option<Position>,
}

/// What one fold stores, all or nothing.
#[derive(Debug, Clone)]
pub struct FoldBatch {
    /// The session as it is now.
    pub snapshot: SessionIdentitySnapshot,
    /// Further state of the session, opaque here; none keeps what is stored.
    pub state: Option<Vec<u8>>,
    /// Records to append to the session's log. Those whose source was folded before are left out.
    pub records: Vec<LogRecord>,
    /// The place up to which the session's journal is folded by this batch; none keeps what is stored.
    pub folded_to: Option<Position>,
    /// The project the session belongs to; none keeps what is stored.
    pub project: Option<String>,
    /// How long the session took, once it has ended.
    pub duration_ms: Option<u64>,
}

impl FoldBatch {
    /// A batch that stores `snapshot` and nothing else.
    pub fn of(snapshot: SessionIdentitySnapshot) -> Self {
        Self { snapshot, state: None, records: Vec::new(), folded_to: None, project: None, duration_ms: None }
    }
}

/// A session as lists show it, without decoding its snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// The session's id.
    pub session_id: String,
    /// The snapshot's time when it was last stored.
    pub timestamp_ms: i64,
    /// The snapshot's time when it was first stored.
    pub first_stored_ms: i64,
    /// The session it continues.
    pub previous_session_id: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// How long it took, once it has ended.
    pub duration_ms: Option<u64>,
    /// Sequence number of the last log record; the first is 1.
    pub last_seq: u64,
    /// The place up to which the session's journal is in the log.
    pub folded_to: Option<Position>,
    /// The link of the hash chain behind the last record in the store.
    pub chain: Option<Chain>,
}

/// Which sessions to list. The newest come first.
#[derive(Debug, Clone, Default)]
pub struct SessionQuery {
    /// Not older than this.
    pub since_ms: Option<i64>,
    /// Not newer than this.
    pub until_ms: Option<i64>,
    /// Of this project only.
    pub project: Option<String>,
    /// At most this many.
    pub limit: Option<usize>,
}

/// A record of the log, as it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEntry<'a> {
    /// Its number within the session, from 1.
    pub seq: u64,
    /// What was stored; none when it does not check out.
    pub content: Option<LogContent<'a>>,
}

/// What a log record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogContent<'a> {
    /// The tool call it belongs to.
    pub tool_use_id: Option<&'a str>,
    /// The record, opaque here.
    pub bytes: &'a [u8],
}

/// A record of the log, by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its session.
    pub session_id: String,
    /// Its number within the session, from 1.
    pub seq: u64,
    /// The tool call it belongs to.
    pub tool_use_id: Option<String>,
    /// The record; none when it does not check out.
    pub bytes: Option<Vec<u8>>,
}

/// What forgetting a session removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Whether there was a snapshot.
    pub snapshot: bool,
    /// Whether there was further state.
    pub state: bool,
    /// Log records.
    pub records: u64,
    /// Index entries of all kinds.
    pub index_entries: u64,
}

/// How much is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sessions.
    pub sessions: u64,
    /// Log records.
    pub records: u64,
    /// Records that can be found by their tool call.
    pub indexed_calls: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Bytes of them that hold something; the rest is used again before the file grows.
    pub used_bytes: u64,
}

/// What checking everything found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Sessions looked at.
    pub sessions: u64,
    /// Log records looked at.
    pub records: u64,
    /// How many things were wrong.
    pub problems: u64,
    /// The first of them: the key, then what is wrong with it.
    pub first_problem: Option<(String, String)>,
}

/// Receives sessions one at a time; [`ControlFlow::Break`] ends the walk.
pub type SessionVisitor<'a> = &'a mut dyn FnMut(SessionEntry) -> ControlFlow<()>;

/// Receives log records one at a time; [`ControlFlow::Break`] ends the walk.
pub type LogVisitor<'a> = &'a mut dyn FnMut(LogEntry<'_>) -> ControlFlow<()>;

/// Says what to store, given the stored snapshot. It may be called again if the transaction has to be.
pub type Change<'a> = &'a mut dyn FnMut(Option<SessionIdentitySnapshot>) -> Result<FoldBatch>;

/// A store of sessions.
pub trait SessionStore {
    /// Stores a fold durably, in one transaction, and returns the number of the session's last record. Storing the
    /// same journal entries again adds nothing.
    fn commit_fold(&self, batch: &FoldBatch) -> Result<u64>;

    /// Loads a snapshot and stores what `change` makes of it, in one transaction; returns what was stored.
    fn update(&self, session_id: &str, change: Change<'_>) -> Result<SessionIdentitySnapshot>;

    /// The stored snapshot. One that does not decode is moved to quarantine and reported once.
    fn snapshot(&self, session_id: &str) -> Result<Option<SessionIdentitySnapshot>>;

    /// The further state stored with the snapshot. One that does not check out is moved to quarantine and
    /// reported once.
    fn state(&self, session_id: &str) -> Result<Option<Vec<u8>>>;

    /// The session as lists show it.
    fn session(&self, session_id: &str) -> Result<Option<SessionEntry>>;

    /// Visits the sessions that match, newest first, one at a time.
    fn visit_sessions(&self, query: &SessionQuery, visit: SessionVisitor<'_>) -> Result<()>;

    /// The sessions that match, newest first.
    fn list_sessions(&self, query: &SessionQuery) -> Result<Vec<SessionEntry>> {
        let mut found = Vec::new();
        self.visit_sessions(query, &mut |session| {
            found.push(session);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Visits the session's records from `from_seq` on, oldest first, one at a time.
    fn visit_log(&self, session_id: &str, from_seq: u64, visit: LogVisitor<'_>) -> Result<()>;

    /// At most `limit` of the session's records from `from_seq` on, oldest first.
    fn log(&self, session_id: &str, from_seq: u64, limit: usize) -> Result<Vec<StoredRecord>> {
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        self.visit_log(session_id, from_seq, &mut |entry| {
            found.push(StoredRecord {
                session_id: session_id.to_owned(),
                seq: entry.seq,
                tool_use_id: entry.content.and_then(|content| content.tool_use_id.map(str::to_owned)),
                bytes: entry.content.map(|content| content.bytes.to_vec()),
            });
            if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(found)
    }

    /// All records of a tool call, in the order their sessions came to the store and then of their numbers.
    fn find_calls(&self, tool_use_id: &str) -> Result<Vec<StoredRecord>>;

    /// The newest session of a project, passing over one id.
    fn latest_of_project(&self, project: &str, excluding: Option<&str>) -> Result<Option<SessionEntry>>;

    /// The ids of the sessions that continue `session_id`.
    fn successors(&self, session_id: &str) -> Result<Vec<String>>;

    /// Removes the session, its log and every index entry, and leaves a tombstone. Sessions that continue it lose
    /// that link.
    fn forget(&self, session_id: &str, at_ms: i64, why: Why) -> Result<Removed>;

    /// Writes over what was removed, so that nobody finds it in the file; returns how many pages that took. Only
    /// thorough on a store that was just opened.
    fn scrub(&self) -> Result<u64>;

    /// What stays of the sessions that were removed, in the order they went.
    fn tombstones(&self) -> Result<Vec<Tombstone>>;

    /// Follows the hash chain of every log; `progress` hears how many records were followed so far.
    fn verify_chains(&self, progress: &mut dyn FnMut(u64)) -> Result<ChainReport>;

    /// The link behind record `seq` of a session, made from the records themselves.
    fn chain_at(&self, session_id: &str, seq: u64) -> Result<Option<Chain>>;

    /// How much is stored; costs no walk.
    fn stats(&self) -> Result<Stats>;

    /// Walks everything and verifies it.
    fn check(&self) -> Result<CheckReport>;
}
