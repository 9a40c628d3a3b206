//! The store: every session that ever ended a turn, in one SQLite database.
//!
//! What the records say is also in rows, so that questions are SQL (`sql/schema.sql`). The records themselves are
//! in compressed blocks, each a part of its session's hash chain. Every write is one durable
//! transaction. Files are by question: `write` stores a fold, `sessions` and `log` read it back, `entries` and
//! `tally` answer about calls, `glance` for pages, `words` finds texts, `forget` removes, `verify` doubts.

mod block;
pub mod chain;
mod compare;
mod entries;
mod export;
mod field;
mod forget;
mod glance;
mod ledger;
mod log;
mod open;
mod parts;
mod rebuild;
mod rows;
mod schema;
mod sealed;
mod search;
mod sessions;
mod sql;
mod tally;
mod telling;
mod tombstone;
mod verify;
mod words;
mod write;

pub use chain::Chain;
pub use entries::{EntryRow, Filter};
pub use export::Copy;
pub use glance::{Axis, AxisCall, AxisEvent, AxisTurn, FileCount, Injected, RuleCount, Stretch};
pub use open::{DATABASE, Patience, StoreOptions};
pub use rebuild::Rebuilt;
pub use sql::{Answer, Cell};
pub use tally::{Counting, Counts, Day, DayOf, Slow, Span, Tally};
pub use tombstone::{Tombstone, Why};
pub use verify::{Break, ChainReport};

use std::ops::ControlFlow;
use std::path::PathBuf;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_core::session::Session;
use rusqlite::Connection;

use crate::error::Result;
use crate::live::Position;
use crate::quarantine::Quarantine;
use crate::seal::Seal;

/// The store, open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    quarantine: Quarantine,
    now_ms: i64,
    /// What sessions are sealed with.
    seal: Seal,
    /// What each question may take.
    budget: open::Budget,
    /// Whether all questions since it was opened are one look: they see the same moment, and nobody else writes meanwhile.
    looks: std::cell::Cell<bool>,
}

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
    /// What lists and views tell of the session; none keeps what is stored.
    pub about: Option<About>,
}

/// What lists and views tell of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// When its first event came.
    pub started_ms: i64,
    /// When it ended, if it has.
    pub ended_ms: Option<i64>,
    /// The client's word for how it ended.
    pub end_reason: Option<String>,
    /// How it ended, in a word that does not depend on the client.
    pub end_status: Option<String>,
    /// Where it stands.
    pub lifecycle: String,
    /// The model, where the client said so.
    pub model: Option<String>,
    /// Its folder.
    pub cwd: String,
    /// Where the client keeps its transcript.
    pub transcript_path: String,
    /// Prompts, calls, and calls that failed.
    pub counts: [u64; 3],
    /// How far it is still itself.
    pub continuity: f32,
}

impl About {
    /// What there is to tell of a session.
    pub fn of(session: &Session) -> Self {
        let state = &session.state;
        let counters = &state.counters;
        Self {
            started_ms: state.started_ms,
            ended_ms: state.ended_ms,
            end_reason: state.end_reason.clone(),
            end_status: state.end.map(|end| end.status.as_str().to_owned()),
            lifecycle: state.lifecycle.to_string(),
            model: (!state.model.is_empty()).then(|| state.model.clone()),
            cwd: state.cwd.clone(),
            transcript_path: state.transcript_path.clone(),
            counts: [counters.prompts, counters.calls(), counters.calls_failed],
            continuity: session.snapshot.last_ic,
        }
    }
}

impl FoldBatch {
    /// A batch that stores `snapshot` and nothing else.
    pub fn of(snapshot: SessionIdentitySnapshot) -> Self {
        Self {
            snapshot,
            state: None,
            records: Vec::new(),
            folded_to: None,
            project: None,
            duration_ms: None,
            about: None,
        }
    }

    /// A batch that stores `snapshot` of a session that lasted so long, if it is over.
    pub fn ended(snapshot: SessionIdentitySnapshot, duration_ms: Option<u64>) -> Self {
        Self { duration_ms, ..Self::of(snapshot) }
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
    /// Rows that were made from them: calls, decisions, files and the like.
    pub rows: u64,
}

/// How much is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Sessions.
    pub sessions: u64,
    /// Log records.
    pub records: u64,
    /// Tool calls.
    pub calls: u64,
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

/// Says what to store, given the stored snapshot.
pub type Change<'a> = &'a mut dyn FnMut(Option<SessionIdentitySnapshot>) -> Result<FoldBatch>;
