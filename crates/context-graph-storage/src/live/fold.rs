//! Folds a journal into the store, in an order that survives a crash at any point.
//!
//! The order is: write one transaction with the log records *and* the position up to which the journal is folded, sync
//! the journal, commit the transaction, write the state file, empty the journal. After a crash before the
//! commit, everything is folded again. After a crash later, the folded part of the journal is skipped
//! because of that position. Because the journal is synced before the commit, the position in the store never points
//! past the part of the journal that survives a power cut.

use super::{Damage, JournalEntry, Position, SessionLock};
use crate::error::{Result, StorageError};
use crate::store::{FoldBatch, SessionRow, Store};

/// What to store for the entries of a fold.
#[derive(Debug)]
pub struct FoldPlan {
    /// Snapshot, state and records for the store. [`fold`] fills in where the journal ends.
    pub batch: FoldBatch,
    /// The next content of the state file, with the effects of all entries.
    pub live: Vec<u8>,
}

/// The result of a fold.
#[derive(Debug)]
pub struct Folded {
    /// The session as the store lists it now.
    pub entry: SessionRow,
    /// The position up to which the store now has the journal.
    pub position: Position,
    /// Whether the journal is now empty. If not, entries arrived meanwhile and wait for the next fold.
    pub emptied: bool,
    /// An error after the commit. Nothing is lost: the next fold repairs it.
    pub afterwards: Option<StorageError>,
    /// Damage that was found.
    pub damage: Vec<Damage>,
}

/// Moves the journal's entries into `store`, durably.
///
/// `applied` is the position that the caller's state has reached. `plan` gets the entries that are not in the
/// log yet, and those after `applied`, whose effects must go into the returned state. Neither set contains the
/// other: the state may be ahead of the log, or behind it after an interrupted fold. `plan` also gets the
/// damage that was found, and leaves in it what should be reported. If the session was forgotten up to the position
/// `forgotten`, state and records must contain nothing from before it.
pub fn fold(
    lock: &mut SessionLock<'_>,
    store: &Store,
    applied: Option<Position>,
    forgotten: Option<Position>,
    plan: impl FnOnce(&[JournalEntry<'_>], &[JournalEntry<'_>], &mut Vec<Damage>) -> Result<FoldPlan>,
) -> Result<Folded> {
    let begun = store.begin_fold(lock.session_id())?;
    let mut unlogged = lock.entries_since(begun.folded_to())?;
    let position = unlogged.end();
    let mut damage = std::mem::take(&mut unlogged.damage);
    let mut fresh = lock.entries_since(applied)?;
    damage.append(&mut fresh.damage);
    let entries: Vec<_> = unlogged.entries().collect();
    // Entries that arrived between the two reads are left to the next fold.
    let fresh: Vec<_> = fresh.entries().filter(|entry| entry.end.offset <= position.offset).collect();
    let FoldPlan { mut batch, live } = plan(&entries, &fresh, &mut damage)?;
    batch.folded_to = Some(position);
    let written = begun.put(&batch, forgotten)?;
    if !entries.is_empty() {
        lock.sync()?;
    }
    let entry = written.commit()?;
    let emptied = lock.write_state(position, &live).and_then(|()| lock.truncate(position));
    let (emptied, afterwards) = match emptied {
        Ok(emptied) => (emptied, None),
        Err(error) => (false, Some(error)),
    };
    Ok(Folded { entry, position, emptied, afterwards, damage })
}
