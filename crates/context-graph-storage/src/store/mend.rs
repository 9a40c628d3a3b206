//! What happens to a stored value that does not check out: its bytes are saved, the value is removed or made anew
//! from what else is known, and the caller hears of it once.

use std::ops::ControlFlow;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use super::engine::{Engine, Order, Reader, Table, Writer};
use super::keyed::KeyedStore;
use super::ledger::Ledger;
use super::rows::{load_ledger, load_owner, load_snapshot, load_state, next_log, put_ledger};
use super::{keys, log};
use crate::error::{Result, StorageError};
use crate::session_key::SessionKey;

/// Part of a session that can be damaged by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Snapshot,
    State,
    Ledger,
}

/// Why work on a session stopped.
#[derive(Debug)]
pub(super) enum Fault {
    Error(StorageError),
    Damaged(Part),
}

impl From<StorageError> for Fault {
    fn from(error: StorageError) -> Self {
        Self::Error(error)
    }
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::State => "state",
            Self::Ledger => "ledger",
        }
    }

    fn is_damaged(self, reader: &(impl Reader + ?Sized), id: &str, key: &SessionKey) -> Result<bool> {
        let fault = match self {
            Self::Snapshot => load_snapshot(reader, id, key).err(),
            Self::State => load_state(reader, key).err(),
            Self::Ledger => load_ledger(reader, key).err(),
        };
        match fault {
            Some(Fault::Error(error)) => Err(error),
            Some(Fault::Damaged(_)) => Ok(true),
            None => Ok(false),
        }
    }

    fn key(self, key: &SessionKey) -> Vec<u8> {
        match self {
            Self::Snapshot => keys::snapshot(key),
            Self::State => keys::state(key),
            Self::Ledger => keys::ledger(key),
        }
    }
}

impl<E: Engine> KeyedStore<E> {
    /// Does `work`; damage that it meets is set aside and turned into the error that says so.
    pub(super) fn settle<T>(&self, id: &str, mut work: impl FnMut(&E) -> Result<T, Fault>) -> Result<T> {
        loop {
            match work(&self.engine) {
                Ok(value) => return Ok(value),
                Err(Fault::Error(error)) => return Err(error),
                Err(Fault::Damaged(part)) => {
                    if let Some(moved_to) = self.set_aside(id, part)? {
                        let what = format!("the {} of session {id}", part.name());
                        return Err(StorageError::Corrupted { what, moved_to });
                    }
                }
            }
        }
    }

    /// Where the damaged part went; none when another process was faster, and has reported it.
    fn set_aside(&self, id: &str, part: Part) -> Result<Option<PathBuf>> {
        let session = SessionKey::new(id)?;
        let key = part.key(&session);
        self.engine.write(|writer| {
            if !part.is_damaged(writer, id, &session)? {
                return Ok(None);
            }
            let bytes = writer.get(Table::Sessions, &key)?.unwrap_or_default();
            let name = format!("{session}.{}-{:016x}", part.name(), xxh3_64(bytes));
            let (moved_to, _) = self.quarantine.save(&name, bytes)?;
            writer.delete(Table::Sessions, &key)?;
            if part == Part::Ledger {
                renew_ledger(writer, id, &session)?;
            }
            Ok(Some(moved_to))
        })
    }
}

/// Replaces a lost ledger by a recovered one, or by nothing, and its index entries with it.
fn renew_ledger(writer: &mut dyn Writer, id: &str, key: &SessionKey) -> Result<()> {
    let recovered = recover(writer, id, key)?;
    let mut stale = Vec::new();
    let (start, end) = (keys::INDEXES.as_bytes(), keys::prefix_end(keys::INDEXES.as_bytes()));
    writer.scan(
        Table::Sessions,
        keys::between(start, end.as_deref()),
        Order::Ascending,
        &mut |entry, owner| {
            if owner == id.as_bytes() {
                stale.push(entry.to_vec());
            }
            ControlFlow::Continue(())
        },
    )?;
    for entry in stale {
        writer.delete(Table::Sessions, &entry)?;
    }
    recovered.map_or(Ok(()), |ledger| put_ledger(writer, key, None, &ledger))
}

/// What can be known of a session whose ledger is lost: number and length of its log from the log, its time and link
/// from the snapshot.
pub(super) fn recover<R: Reader + ?Sized>(reader: &R, id: &str, key: &SessionKey) -> Result<Option<Ledger>> {
    let mut next = next_log(reader, 0)?;
    let ordinal = loop {
        match next {
            None => return Ok(None),
            Some(ordinal) if load_owner(reader, ordinal)?.as_deref() == Some(id) => break ordinal,
            Some(other) => next = next_log(reader, other + 1)?,
        }
    };
    let mut ledger = Ledger::new(id, 0, ordinal);
    ledger.last_seq = log::last_seq(reader, ordinal)?.unwrap_or_else(|first| first);
    ledger.chain = log::last_chain(reader, ordinal)?;
    if let Ok(Some(snapshot)) = load_snapshot(reader, id, key) {
        ledger.timestamp_ms = snapshot.timestamp_ms;
        ledger.first_stored_ms = snapshot.timestamp_ms;
        ledger.previous = snapshot.previous_session_id;
    }
    Ok(Some(ledger))
}
