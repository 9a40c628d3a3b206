//! The journal of a session: who may write to it, and when.
//!
//! Appenders hold the journal's lock shared, so they never wait for each other; whoever changes or removes what
//! is already there holds it alone. An appender that finds the file empty has met a journal that was just
//! created, folded, or removed, and finds out which under the exclusive lock.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use super::frame::{self, Kind, MAX_PAYLOAD_BYTES};
use super::header::{self, Found, Header};
use super::{Damage, Position};
use crate::error::{IoContext, Result, StorageError};
use crate::file_lock;
use crate::quarantine::{Quarantine, create_folder};
use crate::session_key::SessionKey;

/// Where a session's journal is, open or not.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub(crate) path: PathBuf,
    pub(crate) session_id: String,
    pub(crate) key: SessionKey,
    pub(crate) quarantine: Quarantine,
    /// Whether each append waits for the disk.
    pub(crate) durable: bool,
}

/// An open journal whose header is known. Its holder has the session's lock, so the file is neither emptied nor
/// removed by anyone else.
#[derive(Debug)]
pub(crate) struct Journal<'a> {
    pub(crate) place: &'a JournalFile,
    pub(crate) file: File,
    pub(crate) header: Header,
}

impl JournalFile {
    /// Appends without the session's lock: five system calls when the journal is there.
    pub(crate) fn append(&self, payload: &[u8]) -> Result<Vec<Damage>> {
        loop {
            let file = self.open_file()?;
            file_lock::shared(&file).context("lock", &self.path)?;
            let mut damage = Vec::new();
            let header = match header::read(&file, &self.path, &self.session_id)? {
                Found::Whole(header) => Some(header),
                Found::Empty | Found::Damaged => self.settle(&file, &mut damage)?,
            };
            if let Some(header) = header {
                self.write_entry(&file, header.generation, payload)?;
                return Ok(damage);
            }
        }
    }

    /// Opens the journal for a holder of the session's lock.
    pub(crate) fn open(&self, damage: &mut Vec<Damage>) -> Result<Journal<'_>> {
        loop {
            let file = self.open_file()?;
            let header = match header::read(&file, &self.path, &self.session_id)? {
                Found::Whole(header) => Some(header),
                Found::Empty | Found::Damaged => {
                    let header = self.settle(&file, damage)?;
                    file.unlock().context("unlock", &self.path)?;
                    header
                }
            };
            if let Some(header) = header {
                return Ok(Journal { place: self, file, header });
            }
        }
    }

    /// Gives `file` a header, alone, and keeps it locked; none when the file was removed meanwhile.
    fn settle(&self, file: &File, damage: &mut Vec<Damage>) -> Result<Option<Header>> {
        file_lock::alone(file).context("lock", &self.path)?;
        if file.metadata().context("inspect", &self.path)?.nlink() == 0 {
            return Ok(None);
        }
        match header::read(file, &self.path, &self.session_id)? {
            Found::Whole(header) => Ok(Some(header)),
            Found::Empty => self.write_header(file, None).map(Some),
            Found::Damaged => self.repair_header(file, damage).map(Some),
        }
    }

    /// Starts a new generation in an empty file. The caller is alone.
    fn write_header(&self, mut file: &File, follows: Option<Position>) -> Result<Header> {
        let (header, bytes) = header::encode(header::new_generation(), follows, &self.session_id);
        file.write_all(&bytes).context("write", &self.path)?;
        Ok(header)
    }

    /// One frame by one `write`; the caller holds the lock at least shared.
    fn write_entry(&self, mut file: &File, generation: u64, payload: &[u8]) -> Result<u64> {
        if payload.len() > MAX_PAYLOAD_BYTES {
            let problem = format!("entry of {} bytes, the limit is {MAX_PAYLOAD_BYTES}", payload.len());
            return Err(StorageError::InvalidData(problem));
        }
        let (prefix, suffix) = frame::enclose(Kind::Entry, generation, payload);
        let parts = [IoSlice::new(&prefix), IoSlice::new(payload), IoSlice::new(&suffix)];
        let whole = prefix.len() + payload.len() + suffix.len();
        let written = loop {
            match file.write_vectored(&parts) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other.context("append to", &self.path)?,
            }
        };
        if written < whole {
            let entry = [&prefix[..], payload, &suffix].concat();
            self.undo(file, &entry[..written])?;
            return Err(StorageError::DiskFull { action: "append to", path: self.path.clone() });
        }
        if self.durable {
            file.sync_data().context("sync", &self.path)?;
        }
        Ok(u64::from_le_bytes(suffix))
    }

    /// Takes back the start of an entry that did not fit, unless something else stands there by now; then it stays for
    /// the next reader to set aside. The length alone does not tell: while we wait to be alone, a reader may cut our part
    /// off and others may write, and on a full disk all of them stop at the end of the same block.
    fn undo(&self, mut file: &File, part: &[u8]) -> Result<()> {
        let end = file.stream_position().context("inspect", &self.path)?;
        file_lock::alone(file).context("lock", &self.path)?;
        let Some(start) = end.checked_sub(part.len() as u64) else { return Ok(()) };
        if !part.is_empty() && self.read_to_end(file, start)? == part {
            file.set_len(start).context("shorten", &self.path)?;
        }
        Ok(())
    }

    fn open_file(&self) -> Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        match options.open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_folder(self.path.parent().unwrap_or(&self.path))?;
                options.open(&self.path).context("open", &self.path)
            }
            other => other.context("open", &self.path),
        }
    }
}

impl Journal<'_> {
    /// Appends like everyone else and says where the entry ended.
    pub(crate) fn append(&self, payload: &[u8]) -> Result<Position> {
        let path = &self.place.path;
        file_lock::shared(&self.file).context("lock", path)?;
        let generation = self.header.generation;
        let written = self.place.write_entry(&self.file, generation, payload).and_then(|check| {
            let offset = (&self.file).stream_position().context("inspect", path)?;
            Ok(Position { generation, offset, check })
        });
        self.file.unlock().context("unlock", path)?;
        written
    }

    /// Has the disk begin with what was appended, so that there is less to wait for when it is to be safe.
    pub(crate) fn begin_sync(&self) {
        begin_sync(&self.file);
    }

    /// Makes what was read so far survive a power cut.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_data().context("sync", &self.place.path)
    }

    /// Empties a journal that ends at `folded`, which the store holds. False when entries arrived since.
    pub(crate) fn truncate(&mut self, folded: Position) -> Result<bool> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let done = self.ends_at(folded)?;
        if done && folded != self.header.start {
            self.file.set_len(0).context("shorten", path)?;
            self.header = self.place.write_header(&self.file, Some(folded))?;
        }
        self.file.unlock().context("unlock", path)?;
        Ok(done)
    }

    /// Removes the journal: whatever is in it, or only if there is nothing. False when there was something.
    pub(crate) fn remove(&mut self, only_empty: bool) -> Result<bool> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let done = !only_empty || self.ends_at(self.header.start)?;
        if done {
            // Emptied first: an appender that already holds the file open notices, and opens the next one.
            self.file.set_len(0).context("shorten", path)?;
            std::fs::remove_file(path).context("remove", path)?;
        }
        self.file.unlock().context("unlock", path)?;
        Ok(done)
    }

    fn ends_at(&self, position: Position) -> Result<bool> {
        let length = self.file.metadata().context("inspect", &self.place.path)?.len();
        Ok(position.generation == self.header.generation && position.offset == length)
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only libc has this call")]
fn begin_sync(file: &File) {
    use std::os::fd::AsRawFd as _;
    // SAFETY: it touches no memory of ours, and the file is open. That it may fail costs nothing but time.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

/// Elsewhere the disk begins when it is waited for.
#[cfg(not(target_os = "linux"))]
fn begin_sync(_file: &File) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_one_has_written_oneself_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let journal = JournalFile {
            path: folder.path().join("s.journal"),
            session_id: "s".to_owned(),
            key: SessionKey::new("s").unwrap(),
            quarantine: Quarantine::new(folder.path()),
            durable: false,
        };
        journal.append(b"before").unwrap();
        let before = std::fs::read(&journal.path).unwrap();

        let mut file = journal.open_file().unwrap();
        file.write_all(b"the start of").unwrap();
        journal.undo(&file, b"the start of").unwrap();
        assert_eq!(std::fs::read(&journal.path).unwrap(), before);

        // Meanwhile somebody has cut it off and written as many bytes.
        file.write_all(b"the start of").unwrap();
        file.set_len(before.len() as u64).unwrap();
        journal.open_file().unwrap().write_all(b"entry, start").unwrap();
        journal.undo(&file, b"the start of").unwrap();
        assert_eq!(std::fs::read(&journal.path).unwrap(), [&before[..], b"entry, start"].concat());
    }
}
