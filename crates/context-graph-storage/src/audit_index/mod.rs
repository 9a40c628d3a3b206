//! What lets questions about calls be answered at once over years of work: for each session a compact table of what
//! happened ([`Table`]), and a signature of the words that were said ([`grams`]).
//!
//! All of it is derived from the log, so it may be deleted at any time and is made again where it is missing. Only
//! readers open it, never a hook. It lies in plain files that are written once and replaced as a whole: a damaged one
//! fails its checksum and counts as missing, and none can bring a process down.

mod build;
mod filter;
pub mod grams;
mod segment;
mod table;
mod trail;

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub use build::Built;
pub use filter::{Filter, Matcher};
pub use table::{Row, RowPart, Table};
pub use trail::Trail;

use crate::error::{IoContext, Result};
use crate::paths::StateFolder;
use segment::{Segment, Stored};

/// A segment of no more bytes than this is taken into the next one that is written, whatever its size.
const SMALL: u64 = 256 << 10;

/// Of which state of a session's log something was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The number of its last record.
    pub last_seq: u64,
    /// When it was first stored: an id that is used again is another session.
    pub first_stored_ms: i64,
}

/// The tables of a state folder's sessions, as far as they have been made.
#[derive(Debug)]
pub struct AuditIndex {
    folder: PathBuf,
    /// Oldest first.
    segments: Vec<Segment>,
    /// Made by this process and not saved yet.
    made: Vec<(String, Stamp, Built)>,
}

impl AuditIndex {
    /// Opens what there is. What cannot be read counts as missing.
    pub fn open(state: &StateFolder) -> Self {
        let folder = folder_of(state);
        let mut segments: Vec<Segment> =
            names(&folder).into_iter().filter_map(|number| Segment::open(&folder, number).ok()).collect();
        segments.sort_by_key(Segment::number);
        Self { folder, segments, made: Vec::new() }
    }

    /// The table of a session, if it was made of this state of its log.
    pub fn table(&self, session_id: &str, stamp: Stamp) -> Option<Table> {
        let (segment, stored) = self.stored(session_id, stamp)?;
        Table::parse(segment.read(&stored.table)?)
    }

    /// The signature of a session's words, if it was made of this state of its log.
    pub fn grams(&self, session_id: &str, stamp: Stamp) -> Option<Vec<u8>> {
        let (segment, stored) = self.stored(session_id, stamp)?;
        segment.read(&stored.grams)
    }

    fn stored(&self, session_id: &str, stamp: Stamp) -> Option<(&Segment, &Stored)> {
        let (at, stored) = self.newest(session_id)?;
        (stored.stamp() == stamp).then_some((&self.segments[at], stored))
    }

    /// What the newest segment that knows a session holds of it, and which segment that is.
    fn newest(&self, session_id: &str) -> Option<(usize, &Stored)> {
        let segments = self.segments.iter().enumerate().rev();
        segments.into_iter().find_map(|(at, segment)| segment.find(session_id).map(|stored| (at, stored)))
    }

    /// Keeps what was made of a session until it is saved.
    pub fn keep(&mut self, session_id: &str, stamp: Stamp, built: Built) {
        self.made.push((session_id.to_owned(), stamp, built));
    }

    /// How many sessions were made and not saved.
    pub fn unsaved(&self) -> usize {
        self.made.len()
    }

    /// Saves what was made, and lets go of sessions that are not among `known` any more. Another process that is
    /// saving at the moment is not waited for: what it leaves out is made again.
    pub fn save(&mut self, known: &HashSet<&str>) -> Result<()> {
        let orphaned: Vec<bool> = self.segments.iter().map(|segment| !segment.holds_only(known)).collect();
        if self.made.is_empty() && !orphaned.contains(&true) {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).context("create", &self.folder)?;
        let lock = self.folder.join("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock)
            .context("open", &lock)?;
        if lock.try_lock().is_err() {
            return Ok(());
        }
        self.write(known, &orphaned)?;
        drop(lock);
        Ok(())
    }

    /// Writes one new segment. Older ones that are not much larger than what is to be written, and those that hold what
    /// must go, are taken into it, so that their number stays small however often this is done.
    fn write(&mut self, known: &HashSet<&str>, orphaned: &[bool]) -> Result<()> {
        let there = names(&self.folder);
        let number = there.iter().max().map_or(1, |number| number + 1);
        let mut bytes: u64 = self.made.iter().map(|(_, _, built)| built.bytes()).sum();
        let mut absorbed = Vec::new();
        for (at, segment) in self.segments.iter().enumerate().rev() {
            if !there.contains(&segment.number()) {
                continue;
            }
            if orphaned[at] || segment.bytes() <= 2 * bytes + SMALL {
                bytes += segment.bytes();
                absorbed.push(at);
            }
        }
        let made: HashSet<&str> = self.made.iter().map(|(id, ..)| id.as_str()).collect();
        let mut writer = segment::Writing::default();
        for &at in &absorbed {
            for stored in self.segments[at].directory() {
                let id = stored.session_id.as_str();
                let is_newest = self.newest(id).is_some_and(|(newest, _)| newest == at);
                if is_newest && known.contains(id) && !made.contains(id) {
                    writer.copy(&self.segments[at], stored);
                }
            }
        }
        for (id, stamp, built) in &self.made {
            writer.add(id, *stamp, built);
        }
        writer.finish(&self.folder, number).context("write the audit index in", &self.folder)?;
        for at in absorbed {
            // Whoever has it open may go on reading it.
            let _ = fs::remove_file(self.segments[at].path());
        }
        self.made.clear();
        Ok(())
    }

    /// Removes the index of a state folder. Whoever removes sessions for good does this too: what was derived from them
    /// must go with them.
    pub fn discard(state: &StateFolder) -> Result<()> {
        let folder = folder_of(state);
        for _ in 0..DISCARD_ATTEMPTS {
            match fs::remove_dir_all(&folder) {
                // Someone saves to it at this moment.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).context("remove", &folder);
                }
                _ => return Ok(()),
            }
        }
        fs::remove_dir_all(&folder).context("remove", &folder)
    }
}

/// How often someone may get in the way of discarding the index.
const DISCARD_ATTEMPTS: usize = 20;

/// Where the index is: beside the database of the project's own, inside one that is elsewhere.
fn folder_of(state: &StateFolder) -> PathBuf {
    let database = state.database();
    if database.parent() == Some(state.path()) { state.path().join("index") } else { database.join("index") }
}

/// The numbers of the segments in a folder.
fn names(folder: &Path) -> Vec<u64> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let number = |name: &str| name.strip_suffix(segment::ENDING)?.parse().ok();
    files.flatten().filter_map(|file| number(file.file_name().to_str()?)).collect()
}

/// Opens a file for reading, unless it is a link.
fn open_plain(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path)
}
