//! What differs between operating systems: opening files without following links, owners and access rights,
//! locks, appending, and syncing to disk. Everything else in this crate is the same everywhere, except for the
//! tests of modes and links, which are only for Unix.
//!
//! Both sides have the same functions. The Windows side is written from the documentation of Microsoft and of
//! the standard library, and has only run under Wine.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(any(windows, test))]
mod access_list;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading. It must exist.
    Read,
    /// For reading and for writing at any position. It must exist.
    Write,
    /// The same; created if it is missing.
    WriteOrCreate,
    /// For reading and for appending; created if it is missing.
    AppendOrCreate,
    /// For writing. It must not exist yet.
    CreateNew,
}

/// Who may use a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Only its owner.
    Nobody,
    /// Everybody may read it, like the files of a project.
    Readers,
    /// Everybody may read and run it.
    Runners,
}

/// Metadata of something open.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a file")]
pub(crate) struct About {
    pub(crate) is_file: bool,
    /// Whether it belongs to this user or to the system.
    pub(crate) is_ours: bool,
    /// Whether somebody else has any access to it.
    pub(crate) is_open_to_others: bool,
    /// Its device and inode, if the system has stable ones.
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) size: u64,
    /// The number of hard links.
    #[cfg(unix)]
    pub(crate) links: u64,
    /// Whether every user may write to it.
    pub(crate) is_writable_by_all: bool,
    /// Whether anybody but its owner may write to it, including a group.
    pub(crate) is_writable_by_others: bool,
}

/// Opens a file by its path that belongs to this user and that nobody else may read.
pub(crate) fn open_own_file(path: &Path) -> io::Result<File> {
    let file = open_file_unlinked(path, Access::Read)?;
    let about = about(&file)?;
    if !about.is_file || !about.is_ours || about.is_open_to_others {
        let problem = "it is not a file, or another user's, or open to others";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(file)
}
