//! The reached position: how far a session's journal has come. It is kept in the user's own folder and updated
//! at every event. A journal that was restored to an earlier state, or started anew, does not contain this
//! position.
//!
//! It is only evidence. It is never synced, and if it cannot be stored nothing else fails. If a journal has entries and
//! its position was removed, that counts as a loss too: otherwise the end of the journal could be cut off unnoticed.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::Position;
use super::header::Header;
use crate::safe_open::{Access, Folder};
use crate::seal::{Seal, TAG_BYTES};
use crate::secret::UserFolder;
use crate::session_key::SessionKey;
use crate::system::{self, FileExt as _};

const FOLDER: &str = "reached";
const PLACE: usize = 24;

/// What shows that entries are missing from a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missed {
    /// It had reached this position, and no longer contains it.
    Position(Position),
    /// It has entries, but no reached position is recorded.
    Reached,
}

/// The file with the reached position of one journal.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    user: UserFolder,
    path: PathBuf,
}

impl Reached {
    /// For a session of the state folder with this id.
    pub(crate) fn new(user: &UserFolder, state: &str, key: &SessionKey) -> Self {
        Self { user: user.clone(), path: user.path().join(format!("{FOLDER}/{state}.{key}")) }
    }

    /// Records that the journal has grown from `start` to `end`, if it still contains the position recorded before;
    /// returns whether it does. Four system calls if that position is `start`.
    pub(super) fn come_to(
        &self,
        seal: &Seal,
        journal: &File,
        header: &Header,
        start: Position,
        end: Position,
    ) -> bool {
        let Ok(file) = self.open(Access::WriteOrCreate) else { return true };
        let leads_on = match read(&file, seal) {
            Some(before) => before == start || holds(journal, header, before),
            None => header.is_first(start),
        };
        if leads_on {
            let _ = write(&file, seal, end);
        }
        leads_on
    }

    /// Records `end` whatever was recorded before, now that the loss is on record.
    pub(super) fn overwrite(&self, seal: &Seal, end: Position) {
        let _ = self.open(Access::WriteOrCreate).and_then(|file| write(&file, seal, end));
    }

    /// The reached position.
    pub(super) fn read(&self, seal: &Seal) -> Option<Position> {
        self.open(Access::Read).ok().and_then(|file| read(&file, seal))
    }

    /// Whether a position can be recorded here. If so, a missing one was removed.
    pub(super) fn can_be_kept(&self) -> bool {
        self.open(Access::WriteOrCreate).is_ok()
    }

    /// Forgets the position, so that nothing is missed any more.
    pub(super) fn forget(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// Opens the file by its path: nobody else can write to the user's folder, and the content is sealed.
    fn open(&self, access: Access) -> io::Result<File> {
        match system::open_file_unlinked(&self.path, access) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && access != Access::Read => {
                let user = self.user.open().map_err(|error| io::Error::other(error.to_string()))?;
                user.folder_or_create(FOLDER)?;
                system::open_file_unlinked(&self.path, access)
            }
            opened => opened,
        }
    }
}

/// Forgets the positions of all sessions of a state folder.
pub(crate) fn forget_all(user: &UserFolder, state: &str) -> io::Result<()> {
    let folder = match Folder::open(&user.path().join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let is_its = |name: &str| name.strip_prefix(state).is_some_and(|rest| rest.starts_with('.'));
    for name in folder.names()?.into_iter().filter(|name| name.to_str().is_some_and(is_its)) {
        folder.remove(&name)?;
    }
    Ok(())
}

/// Whether a journal contains a position, or continues a journal that did.
pub(super) fn holds(journal: &File, header: &Header, place: Position) -> bool {
    if place.generation != header.generation {
        let folded = header.follows.filter(|before| before.generation == place.generation);
        return folded.is_some_and(|before| place.offset <= before.offset);
    }
    let mut check = [0; 8];
    let at = place.offset.checked_sub(check.len() as u64);
    at.is_some_and(|at| journal.read_exact_at(&mut check, at).is_ok())
        && u64::from_le_bytes(check) == place.check
}

/// Reads the position. A file that a power cut left empty, or that has no valid seal, gives `None`.
fn read(file: &File, seal: &Seal) -> Option<Position> {
    let mut bytes = [0; PLACE + TAG_BYTES];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let (place, tag) = bytes.split_at(PLACE);
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| place[at + byte]));
    let read = Position { generation: number(0), offset: number(8), check: number(16) };
    seal.holds("reached", &[place], tag).then_some(read)
}

fn write(file: &File, seal: &Seal, end: Position) -> io::Result<()> {
    let place = [end.generation, end.offset, end.check].map(u64::to_le_bytes).concat();
    file.write_all_at(&[&place[..], &seal.tag("reached", &[&place])].concat(), 0)
}
