//! The journal of a session: who may write to it, and when.
//!
//! Each entry has a tag that covers the previous one, so an appender holds a lock during its write. So does a
//! process that changes or removes entries. If an appender finds the file empty, the journal was just created,
//! folded or removed; it then finds out which.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::frame::{self, FrameKind, MAX_PAYLOAD_BYTES, SUFFIX};
use super::header::{self, FoundHeader, Header};
use super::reached::{self, Missed, Reached};
use super::{Damage, Position};
use crate::error::{IoContext, Result, StorageError};
use crate::file_lock;
use crate::quarantine::Quarantine;
use crate::safe_open::{Access, Folder};
use crate::seal::Seal;
use crate::session_key::SessionKey;
use crate::system::{self, FileExt as _};

/// A session's journal file, open or not.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub(crate) folder: Arc<Folder>,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) session_id: String,
    pub(crate) key: SessionKey,
    pub(crate) quarantine: Quarantine,
    /// The session's own seal.
    pub(crate) seal: Seal,
    /// Where the reached position is recorded, if it is.
    pub(crate) reached: Option<Reached>,
    /// Whether each append is synced to disk.
    pub(crate) durable: bool,
}

/// The position of an entry that was just written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    pub(crate) start: Position,
    pub(crate) end: Position,
    /// Whether the journal still contains the position it had reached before.
    pub(crate) leads_on: bool,
}

/// An open journal with a known header. Its holder has the session's lock, so nobody else empties or removes
/// the file.
#[derive(Debug)]
pub(crate) struct Journal<'a> {
    pub(crate) place: &'a JournalFile,
    pub(crate) file: File,
    pub(crate) header: Header,
    /// Whether it was just found to contain the position it had reached.
    pub(crate) leads_on: bool,
}

impl JournalFile {
    /// Appends without the session's lock: sixteen system calls if the journal exists.
    pub(crate) fn append(&self, payload: &[u8]) -> Result<Vec<Damage>> {
        loop {
            let file = self.open_file()?;
            file_lock::alone(&file).context("lock", &self.path)?;
            let mut damage = Vec::new();
            if let Some(header) = self.ensure_header(&file, &mut damage)? {
                self.write_entry(&file, &header, payload)?;
                if self.durable {
                    // Other processes do not have to wait for the disk too.
                    file_lock::release(&file).context("unlock", &self.path)?;
                    file.sync_data().context("sync", &self.path)?;
                }
                return Ok(damage);
            }
        }
    }

    /// Opens the journal for a holder of the session's lock.
    pub(crate) fn open(&self, damage: &mut Vec<Damage>) -> Result<Journal<'_>> {
        loop {
            let file = self.open_file()?;
            let header = match header::read(&self.seal, &file, &self.path, &self.session_id)? {
                FoundHeader::Whole(header) => Some(header),
                FoundHeader::Empty | FoundHeader::Damaged => {
                    file_lock::alone(&file).context("lock", &self.path)?;
                    let header = self.ensure_header(&file, damage)?;
                    file_lock::release(&file).context("unlock", &self.path)?;
                    header
                }
            };
            if let Some(header) = header {
                return Ok(Journal { place: self, file, header, leads_on: false });
            }
        }
    }

    /// Writes a header if `file` has none; `None` if the file was removed meanwhile. The caller holds the
    /// exclusive lock.
    fn ensure_header(&self, file: &File, damage: &mut Vec<Damage>) -> Result<Option<Header>> {
        let found = header::read(&self.seal, file, &self.path, &self.session_id)?;
        if let FoundHeader::Whole(header) = found {
            return Ok(Some(header));
        }
        let about = system::about(file).context("inspect", &self.path)?;
        if system::is_removed(&about, &self.path) {
            return Ok(None);
        }
        if about.size > MAX_JOURNAL_BYTES {
            // This program never writes such a file.
            damage.push(self.move_away(about.size)?);
            return Ok(None);
        }
        match found {
            FoundHeader::Damaged => self.repair_header(file, damage).map(Some),
            _ => self.write_header(file, None).map(Some),
        }
    }

    /// Starts a new generation in an empty file. The caller holds the exclusive lock.
    fn write_header(&self, mut file: &File, follows: Option<Position>) -> Result<Header> {
        let generation = header::new_generation(&self.path)?;
        let (header, bytes) = header::encode(&self.seal, generation, follows, &self.session_id);
        file.write_all(&bytes).context("write", &self.path)?;
        Ok(header)
    }

    /// Appends one frame with a single `write`. The caller holds the exclusive lock.
    fn write_entry(&self, file: &File, header: &Header, payload: &[u8]) -> Result<Written> {
        let generation = header.generation;
        if payload.len() > MAX_PAYLOAD_BYTES {
            let problem = format!("entry of {} bytes, the limit is {MAX_PAYLOAD_BYTES}", payload.len());
            return Err(StorageError::InvalidData(problem));
        }
        let end = system::about(file).context("inspect", &self.path)?.size;
        let mut before = [0; SUFFIX];
        file.read_exact_at(&mut before, end.saturating_sub(SUFFIX as u64)).context("read", &self.path)?;
        let before = u64::from_le_bytes(before);
        let start = Position { generation, offset: end, check: before };
        let (prefix, suffix) = frame::enclose(&self.seal, FrameKind::Entry, generation, before, payload);
        let whole = prefix.len() + payload.len() + suffix.len();
        let written =
            system::write_once(file, &[&prefix, payload, &suffix]).context("append to", &self.path)?;
        if written < whole {
            // A partial entry is removed: nobody else can have written after it.
            system::set_length(file, end).context("shorten", &self.path)?;
            return Err(StorageError::DiskFull { action: "append to", path: self.path.clone() });
        }
        let check = u64::from_le_bytes(suffix);
        let end = Position { generation, offset: end + whole as u64, check };
        let leads_on =
            self.reached.as_ref().is_none_or(|it| it.come_to(&self.seal, file, header, start, end));
        Ok(Written { start, end, leads_on })
    }

    fn open_file(&self) -> Result<File> {
        self.folder.file(&self.name, Access::AppendOrCreate).context("open", &self.path)
    }
}

/// A journal is folded long before this size, so this program did not write a larger one.
const MAX_JOURNAL_BYTES: u64 = 1 << 30;

impl Journal<'_> {
    /// Appends like everyone else and returns the entry's position.
    pub(crate) fn append(&mut self, payload: &[u8]) -> Result<Written> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let written = self.place.write_entry(&self.file, &self.header, payload);
        file_lock::release(&self.file).context("unlock", path)?;
        self.leads_on = written.as_ref().is_ok_and(|written| written.leads_on);
        if self.place.durable {
            self.sync()?;
        }
        written
    }

    /// What shows that entries are missing: the file was restored to an earlier state, or started anew.
    pub(crate) fn missed(&self) -> Result<Option<Missed>> {
        let Some(reached) = self.place.reached.as_ref().filter(|_| !self.leads_on) else { return Ok(None) };
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let missed = if let Some(place) = reached.read(&self.place.seal) {
            let is_held = reached::holds(&self.file, &self.header, place);
            (!is_held).then_some(Missed::Position(place))
        } else {
            let length = self.file.metadata().context("inspect", path)?.len();
            let is_new = self.header.is_first(Position { offset: length, ..self.header.start });
            (!is_new && reached.can_be_kept()).then_some(Missed::Reached)
        };
        file_lock::release(&self.file).context("unlock", path)?;
        Ok(missed)
    }

    /// Records `end` as the reached position, now that the loss is on record.
    pub(crate) fn overwrite_reached(&mut self, end: Position) {
        if let Some(reached) = &self.place.reached {
            reached.overwrite(&self.place.seal, end);
        }
    }

    /// Syncs to disk everything read so far.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().context("sync", &self.place.path)
    }

    /// Empties a journal that ends at `folded`, which the store has. False if entries arrived since.
    pub(crate) fn truncate(&mut self, folded: Position) -> Result<bool> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let done = self.ends_at(folded)?;
        if done && folded != self.header.start {
            system::set_length(&self.file, 0).context("shorten", path)?;
            self.header = self.place.write_header(&self.file, Some(folded))?;
        }
        file_lock::release(&self.file).context("unlock", path)?;
        Ok(done)
    }

    /// Removes the journal, either always or only if it is empty. False if there were entries.
    pub(crate) fn remove(&mut self, only_empty: bool) -> Result<bool> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let done = !only_empty || self.ends_at(self.header.start)?;
        if done {
            // Emptied first: an appender that already has the file open notices this and opens the next one.
            system::set_length(&self.file, 0).context("shorten", path)?;
            // The next journal must not be expected to contain the old position.
            if let Some(reached) = &self.place.reached {
                reached.forget();
            }
            self.place.folder.remove(&self.place.name).context("remove", path)?;
        }
        file_lock::release(&self.file).context("unlock", path)?;
        Ok(done)
    }

    fn ends_at(&self, position: Position) -> Result<bool> {
        let length = self.file.metadata().context("inspect", &self.place.path)?.len();
        Ok(position.generation == self.header.generation && position.offset == length)
    }
}
