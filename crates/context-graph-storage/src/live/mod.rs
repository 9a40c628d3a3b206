//! The live files of a session between two sync points: an append-only journal, which is the source of truth,
//! and a state file, which caches the session that results from it.
//!
//! Ordinary events use these two files and no database. Any process may append at any time
//! ([`LiveSession::append_without_lock`]); stepping the session and folding the journal into the store need the
//! session's lock ([`LiveSession::lock`]). This module does not know what the payloads mean.

mod damage;
mod fold;
mod frame;
mod header;
mod journal;
mod reached;
mod repair;
mod session;
mod state_file;
mod tail;

pub use damage::{Damage, DamageKind};
pub use fold::{FoldPlan, Folded, fold};
pub use frame::MAX_PAYLOAD_BYTES;
pub(crate) use reached::{Missed, forget_all};
pub(crate) use session::Held;
pub use session::{LiveSession, SessionLock, StateReading, live_sessions};
pub use state_file::LiveState;
pub use tail::{JournalEntry, Tail};

use serde::{Deserialize, Serialize};

/// Once a journal is larger than this, the next event that steps the session is a sync point.
pub const FOLD_ABOVE_BYTES: u64 = 1 << 20;

/// A position in a journal, between two entries.
///
/// A journal that was folded starts again with a new generation. One that lost its tail in a power cut may grow
/// past the old offset with other content. The three fields together detect all of these cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Identifies the journal: a random number, new at each start from empty.
    pub generation: u64,
    /// Offset from the start of the file, in bytes.
    pub offset: u64,
    /// Checksum of the frame that ends here.
    pub check: u64,
}
