//! Folds a journal into the store, in an order that survives a crash at any point.
//!
//! Journal on disk, then one durable transaction with the log records *and* the place up to which the journal is
//! folded, then the state file, then the journal is emptied. A death before the transaction leaves everything to
//! be folded again; one after it leaves a journal whose folded part is skipped by that place. Because the journal
//! is synced first, the place in the store never points past what a power cut leaves of the journal.

use super::{Damage, JournalEntry, Position, SessionLock};
use crate::error::{Result, StorageError};
use crate::store::{FoldBatch, SessionEntry, Store};

/// What to store for the entries of a fold.
#[derive(Debug)]
pub struct FoldPlan {
    /// Snapshot, state and records for the store. Where the journal ends is filled in by [`fold`].
    pub batch: FoldBatch,
    /// The state file's next content: the effects of all entries included.
    pub live: Vec<u8>,
}

/// What a fold did.
#[derive(Debug)]
pub struct Folded {
    /// The session as the store lists it now.
    pub entry: SessionEntry,
    /// The place up to which the store now holds the journal.
    pub position: Position,
    /// Whether the journal is empty now; if not, entries arrived meanwhile, for the next fold.
    pub emptied: bool,
    /// What went wrong after the transaction. Nothing is lost by it: it is made good by the next fold.
    pub afterwards: Option<StorageError>,
    /// Damage met on the way.
    pub damage: Vec<Damage>,
}

/// Moves the journal's entries into `store`, durably.
///
/// `applied` is the place that the caller's state has reached. `plan` gets the entries that the log does not have
/// yet, and those behind `applied`, whose effects must go into the state it returns. Neither contains the other: the
/// state may be ahead of the log, and behind it after a fold that died half-way. It also gets the damage that was met,
/// and leaves what is to be reported.
pub fn fold(
    guard: &mut SessionLock<'_>,
    store: &Store,
    applied: Option<Position>,
    plan: impl FnOnce(&[JournalEntry<'_>], &[JournalEntry<'_>], &mut Vec<Damage>) -> Result<FoldPlan>,
) -> Result<Folded> {
    let folded = store.session(guard.session_id())?.and_then(|session| session.folded_to);
    let mut unlogged = guard.entries_since(folded)?;
    let position = unlogged.end();
    let mut damage = std::mem::take(&mut unlogged.damage);
    let mut fresh = guard.entries_since(applied)?;
    damage.append(&mut fresh.damage);
    let entries: Vec<_> = unlogged.entries().collect();
    // What has arrived between the two readings is left to the next fold.
    let fresh: Vec<_> = fresh.entries().filter(|entry| entry.end.offset <= position.offset).collect();
    let FoldPlan { mut batch, live } = plan(&entries, &fresh, &mut damage)?;
    batch.folded_to = Some(position);
    // The disk begins with the journal while the transaction is made, and must be done with it before that counts.
    guard.begin_sync();
    let entry = store.commit(&batch, || if entries.is_empty() { Ok(()) } else { guard.sync() })?;
    let emptied = guard.write_state(position, &live).and_then(|()| guard.truncate(position));
    let (emptied, afterwards) = match emptied {
        Ok(emptied) => (emptied, None),
        Err(error) => (false, Some(error)),
    };
    Ok(Folded { entry, position, emptied, afterwards, damage })
}
