//! The store: every session that has finished a turn, in one SQLite database.
//!
//! The content of the records is also stored in rows, so that questions are SQL queries (`sql/schema.sql`). The
//! records themselves are in compressed blocks, each a part of its session's hash chain. Every write is one
//! durable transaction. There is one file per task: `write` stores a fold, `sessions` and `log` read it back,
//! `entries` and `tally` answer questions about calls, `pages` and `axis` have the queries of pages, `words` is the text search,
//! `forget` removes (`leftover`: if it is interrupted), `verify` checks.

mod axis;
mod block;
pub mod chain;
mod compare;
mod derive;
mod entries;
mod export;
mod field;
mod forget;
mod ledger;
mod leftover;
mod log;
mod open;
mod pages;
mod parts;
mod rebuild;
mod rows;
mod schema;
mod sealed;
mod search;
mod sessions;
mod sql;
mod tally;
mod tombstone;
mod verify;
mod words;
mod write;

pub use axis::{AxisCallRow, AxisEventRow, AxisRows, AxisTurnRow};
pub use block::{Block, Packed};
pub use chain::Chain;
pub use derive::{CALLS, DECISIONS, EVENTS, FILES, INJECTIONS, Rows, TABLES, TURNS, Table, derive_rows};
pub use entries::{EntryRow, Filter};
pub use export::ExportCopy;
pub use field::Field;
pub(crate) use open::refuse_other_engine;
pub use open::{DATABASE, Patience, StoreOptions};
pub use pages::{Among, CallCounts, FileCount, Injected, RuleCount};
pub use rebuild::Rebuilt;
pub use rows::{settled, stored_record};
pub use schema::VERSION;
pub use sql::{Cell, SqlPart};
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
use crate::quarantine::{Later, Quarantine};
use crate::seal::Seal;

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    quarantine: Quarantine,
    now_ms: i64,
    /// The seal of stored sessions.
    seal: Seal,
    /// The limits of each query.
    budget: open::Budget,
    /// The transaction that opening it began.
    begun: std::cell::Cell<open::Begun>,
    /// Comes after the connection: fields are dropped in their order.
    later: Later,
}

/// Longest project key that is accepted, in bytes.
pub const MAX_PROJECT_BYTES: usize = 4096;

/// One record for the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogRecord {
    /// The id of its tool call; an empty one is kept but not indexed.
    pub tool_use_id: Option<String>,
    /// The record, opaque here.
    pub bytes: Vec<u8>,
    /// Where the record's journal entry ended; `None` for a record that was never in a journal.
    pub source: Option<Position>,
}

/// The data of one fold, stored all or nothing.
#[derive(Debug, Clone)]
pub struct FoldBatch {
    /// The current snapshot of the session.
    pub snapshot: SessionIdentitySnapshot,
    /// Further state of the session, opaque here; `None` keeps what is stored.
    pub state: Option<Vec<u8>>,
    /// Records to append to the session's log. Those whose source was already folded are left out.
    pub records: Vec<LogRecord>,
    /// The position up to which this batch folds the session's journal; `None` keeps what is stored.
    pub folded_to: Option<Position>,
    /// The session's project; `None` keeps what is stored.
    pub project: Option<String>,
    /// How long the session lasted, once it has ended.
    pub duration_ms: Option<u64>,
    /// What lists and views show about the session; `None` keeps what is stored.
    pub about: Option<About>,
}

/// What lists and views show about a session.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The time of its first event.
    pub started_ms: i64,
    /// When it ended, if it has.
    pub ended_ms: Option<i64>,
    /// The client's reason for the end.
    pub end_reason: Option<String>,
    /// How it ended, as a word that does not depend on the client.
    pub end_status: Option<String>,
    /// Its lifecycle state.
    pub lifecycle: String,
    /// The model, if the client named it.
    pub model: Option<String>,
    /// Its folder.
    pub cwd: String,
    /// The client's transcript file.
    pub transcript_path: String,
    /// Prompts, calls, and calls that failed.
    pub counts: [u64; 3],
    /// Its continuity.
    pub continuity: f32,
}

impl About {
    /// Collects this data from a session.
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

    /// A batch that stores `snapshot` of a session that lasted this long, if it has ended.
    pub fn ended(snapshot: SessionIdentitySnapshot, duration_ms: Option<u64>) -> Self {
        Self { duration_ms, ..Self::of(snapshot) }
    }
}

/// A session as lists show it, without decoding its snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// The session's id.
    pub session_id: String,
    /// The snapshot's time when it was last stored.
    pub timestamp_ms: i64,
    /// The snapshot's time when it was first stored.
    pub first_stored_ms: i64,
    /// The session it continues.
    pub previous_session_id: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// How long it lasted, once it has ended.
    pub duration_ms: Option<u64>,
    /// Sequence number of the last log record; the first is 1.
    pub last_seq: u64,
    /// The position up to which the session's journal is in the log.
    pub folded_to: Option<Position>,
    /// The end of the hash chain in the store.
    pub chain: Option<Chain>,
}

/// Which sessions to list, newest first.
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
pub struct LoggedRecord<'a> {
    /// Its sequence number in the session, from 1.
    pub seq: u64,
    /// Its content; `None` if it is not valid.
    pub content: Option<LogContent<'a>>,
}

/// The content of a log record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogContent<'a> {
    /// The id of its tool call.
    pub tool_use_id: Option<&'a str>,
    /// The record, opaque here.
    pub bytes: &'a [u8],
}

/// A record of the log, with its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its session.
    pub session_id: String,
    /// Its sequence number in the session, from 1.
    pub seq: u64,
    /// The id of its tool call.
    pub tool_use_id: Option<String>,
    /// The record; `None` if it is not valid.
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
    /// Rows derived from them: calls, decisions, files and the like.
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
    /// Bytes in use; the rest is reused before the file grows.
    pub used_bytes: u64,
}

/// The result of checking everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Checked sessions.
    pub sessions: u64,
    /// Checked log records.
    pub records: u64,
    /// The number of problems.
    pub problems: u64,
    /// The first problem: the key, then what is wrong with it.
    pub first_problem: Option<(String, String)>,
}

/// Receives sessions one at a time; [`ControlFlow::Break`] ends the walk.
pub type SessionVisitor<'a> = &'a mut dyn FnMut(SessionRow) -> ControlFlow<()>;

/// Receives log records one at a time; [`ControlFlow::Break`] ends the walk.
pub type LogVisitor<'a> = &'a mut dyn FnMut(LoggedRecord<'_>) -> ControlFlow<()>;

/// Returns what to store, given the stored snapshot.
pub type Change<'a> = &'a mut dyn FnMut(Option<SessionIdentitySnapshot>) -> Result<FoldBatch>;
