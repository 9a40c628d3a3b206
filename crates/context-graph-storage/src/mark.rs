//! The mark of a state folder: it proves that this user made the folder on this machine, and where.
//!
//! Without it nothing in the folder is opened: the content is moved aside unchanged, and new state is started.
//! A copied folder has the mark of another path; a moved one is still the same folder.

use std::path::PathBuf;

use crate::error::{IoContext, Result};
use crate::file_lock;
use crate::safe_open::{Access, Folder, is_temporary, random_name};
use crate::seal::{Seal, TAG_BYTES};

pub(crate) const MARK: &str = "mark";
const LOCK: &str = "mark.lock";
const MAGIC: &[u8; 8] = b"CGmark\0\x01";
/// The first bytes of a mark if the state is in a separate folder.
const MAGIC_APART: &[u8; 8] = b"CGmark\0\x02";
pub(crate) const ID: usize = 16;
/// The length of everything before the path: magic, id, device, inode, tag.
const FIXED: usize = MAGIC.len() + ID + 16 + TAG_BYTES;
/// The largest mark that is read.
const MAX_BYTES: u64 = 8 << 10;

/// Names in a state folder that are ours. Policies and configuration are not among them: the user decides
/// whether to trust those.
const STATE: [&str; 14] = [
    "data",
    "live",
    "index",
    "quarantine",
    "install",
    "key",
    MARK,
    "data.mdb",
    "lock.mdb",
    "context-graph.db",
    "context-graph.db-journal",
    "context-graph.db-wal",
    "context-graph.db-shm",
    "suspicious",
];

/// A mark with a valid tag of this user.
#[derive(Debug)]
pub(crate) struct Mark {
    /// The random id of the state folder; its seal is derived from it.
    pub(crate) id: [u8; ID],
    /// Device and inode of the folder when it was marked.
    identity: (u64, u64),
    /// The real path of the folder when it was marked.
    pub(crate) place: Vec<u8>,
    /// Whether its state is in a separate folder with an unpredictable name: the repository has files where the
    /// state would be, and git would publish what is put there.
    pub(crate) is_apart: bool,
}

/// The path of a folder, and its device and inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) place: Vec<u8>,
    pub(crate) identity: (u64, u64),
}

impl Spot {
    /// The spot of `folder`.
    pub(crate) fn of(folder: &Folder) -> Self {
        let place = real_place(folder).unwrap_or_default();
        Self { place, identity: folder.about().identity.unwrap_or_default() }
    }
}

impl Mark {
    /// The mark in `folder`, whatever path it names.
    pub(crate) fn read(folder: &Folder, user: &Seal) -> Option<Self> {
        let bytes = folder.read(MARK, MAX_BYTES).ok()?;
        Self::parse(&bytes, |purpose, parts, tag| user.holds(purpose, parts, tag))
    }

    /// Whether the mark in `aside` names this folder: same device, inode and path. Its tag is not checked: it was sealed
    /// with a secret that no longer exists.
    pub(crate) fn says_it_is_of(aside: &Folder, folder: &Folder) -> bool {
        let mark = aside.read(MARK, MAX_BYTES).ok().and_then(|bytes| Self::parse(&bytes, |_, _, _| true));
        let spot = Spot::of(folder);
        mark.is_some_and(|mark| mark.identity == spot.identity && mark.place == spot.place)
    }

    fn parse(bytes: &[u8], holds: impl Fn(&str, &[&[u8]], &[u8]) -> bool) -> Option<Self> {
        let (fixed, place) = bytes.split_at_checked(FIXED)?;
        let (magic, rest) = fixed.split_at_checked(MAGIC.len())?;
        let (said, tag) = rest.split_at_checked(ID + 16)?;
        let is_apart = magic == MAGIC_APART;
        if (magic != MAGIC && !is_apart) || !holds(purpose(is_apart), &[said, place], tag) {
            return None;
        }
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| said[at + byte]));
        Some(Self {
            id: std::array::from_fn(|at| said[at]),
            identity: (word(ID), word(ID + 8)),
            place: place.to_vec(),
            is_apart,
        })
    }

    /// Whether something with this name may be in our folder before it is marked.
    pub(crate) fn may_come_first(name: &str) -> bool {
        name == LOCK || is_temporary(name)
    }

    /// The folder's path when it was marked.
    pub(crate) fn real_place(&self) -> PathBuf {
        String::from_utf8_lossy(&self.place).into_owned().into()
    }

    /// The mark of exactly this folder.
    pub(crate) fn of(folder: &Folder, user: &Seal) -> Option<Self> {
        Self::read(folder, user).filter(|mark| mark.is_of(folder))
    }

    fn is_of(&self, folder: &Folder) -> bool {
        // Some file systems give a folder another inode number at each mount; then its path decides.
        folder.about().identity.is_some_and(|found| found == self.identity)
            || real_place(folder).is_some_and(|place| place == self.place)
    }

    /// Marks `folder` as made here by this user, with this id.
    pub(crate) fn write(folder: &Folder, user: &Seal, id: [u8; ID], is_apart: bool) -> Result<Self> {
        let path = folder.path().join(MARK);
        let Spot { place, identity } = Spot::of(folder);
        let said = [&id[..], &identity.0.to_le_bytes(), &identity.1.to_le_bytes()].concat();
        let tag = user.tag(purpose(is_apart), &[&said, &place]);
        let magic = if is_apart { MAGIC_APART } else { MAGIC };
        folder.replace(MARK, &[magic, &said[..], &tag, &place].concat()).context("write", &path)?;
        Ok(Self { id, identity, place, is_apart })
    }
}

fn purpose(is_apart: bool) -> &'static str {
    if is_apart { "mark apart" } else { "mark" }
}

/// The name of the separate state folder for this id.
pub(crate) fn apart_name(id: &[u8; ID]) -> String {
    format!("{APART}{:032x}", u128::from_be_bytes(*id))
}

/// Held while a folder is marked or its state is replaced.
pub(crate) fn lock(folder: &Folder) -> Result<std::fs::File> {
    let path = folder.path().join(LOCK);
    let opened = folder.file(LOCK, Access::WriteOrCreate).or_else(|_| {
        // Something else has the name of our lock file.
        folder.remove(LOCK)?;
        folder.file(LOCK, Access::WriteOrCreate)
    });
    let file = opened.context("open", &path)?;
    file_lock::alone(&file).context("lock", &path)?;
    Ok(file)
}

/// Moves the state in `folder` into a folder of its own, unchanged; returns where, if there was any.
pub(crate) fn move_aside(folder: &Folder) -> Result<Option<PathBuf>> {
    let there = state_in(folder)?;
    if there.is_empty() {
        return Ok(None);
    }
    let name = random_name().context("name a place in", folder.path())?;
    let name = format!("{ASIDE}{}", &name[..12]);
    let path = folder.path().join(&name);
    let (aside, _) = folder.folder_or_create(&name).context("create", &path)?;
    for name in there {
        folder.move_to(&name, &aside, &name).context("move aside", &folder.path().join(&name))?;
    }
    Ok(Some(path))
}

/// Whether there is state in a folder, no matter who made it.
pub(crate) fn has_state(folder: &Folder) -> Result<bool> {
    state_in(folder).map(|names| !names.is_empty())
}

fn state_in(folder: &Folder) -> Result<Vec<String>> {
    let names = folder.names().context("list", folder.path())?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| STATE.contains(&name.as_str()) || name.starts_with(APART)).collect())
}

/// Moves the state in `aside` back into `folder`, which has none. Its mark stays.
pub(crate) fn move_back(aside: &Folder, folder: &Folder) -> Result<()> {
    for name in STATE.into_iter().filter(|name| *name != MARK && aside.has(name)) {
        aside.move_to(name, folder, name).context("move back", &aside.path().join(name))?;
    }
    Ok(())
}

/// The prefix of separate state folders.
const APART: &str = "state-";
/// The prefix of folders with state that is not trusted.
pub(crate) const ASIDE: &str = "aside-";

/// The real path of a folder.
fn real_place(folder: &Folder) -> Option<Vec<u8>> {
    let real = std::fs::canonicalize(folder.path()).ok()?;
    Some(real.into_os_string().into_encoded_bytes())
}
