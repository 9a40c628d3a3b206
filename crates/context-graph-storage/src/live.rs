//! A session between two sync points: an append-only journal, which is the truth, and a state file, which is a
//! cache of folding it.
//!
//! Ordinary events touch these two files and no database. Anyone may append at any time ([`LiveSession::append_only`]);
//! stepping the session and folding the journal into the store take the session's lock ([`LiveSession::lock`]).
//! What the payloads mean is not known here.

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
pub use session::{LiveSession, SessionLock, StateReading, live_sessions};
pub use state_file::LiveState;
pub use tail::{JournalEntry, Tail};

use serde::{Deserialize, Serialize};

/// A journal that grows past this is folded at the next chance, sync point or not.
pub const FOLD_ABOVE_BYTES: u64 = 1 << 20;

/// A place in a journal, between two entries.
///
/// A journal that was folded starts again under a new generation, and one that lost its tail in a power cut may
/// grow past the old offset with other content; the three fields together tell all of these apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Which journal: a random number, new at each start from empty.
    pub generation: u64,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Checksum of the frame that ends here.
    pub check: u64,
}
