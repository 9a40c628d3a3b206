//! What differs between operating systems: how files are opened without following links, who owns them, and who may
//! read them, how they are locked, appended to and brought to the disk. Everything else in this crate is the same
//! everywhere, but for the tests of modes and links, which are Unix's own.
//!
//! Both sides have the same functions. That of Windows is written by what Microsoft and the standard library document; it
//! has not been compiled or run.

use std::fs::File;
use std::io;
use std::path::Path;

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
    /// To be read. It must be there.
    Read,
    /// To be read, and written at any place. It must be there.
    Write,
    /// The same; it is made where it is missing.
    WriteOrCreate,
    /// To be read, and written at its end; it is made where it is missing.
    AppendOrCreate,
    /// To be written. It must not be there yet.
    CreateNew,
}

/// Whom a new file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Its owner alone.
    Nobody,
    /// Everybody may read it, as the files of a project.
    Readers,
    /// Everybody may read and run it.
    Runners,
}

/// What is to be known about something that was opened.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a file")]
pub(crate) struct About {
    pub(crate) is_file: bool,
    /// Whether it belongs to this user or to the system.
    pub(crate) is_ours: bool,
    /// Whether somebody else may do anything with it.
    pub(crate) is_open_to_others: bool,
    /// What the system knows it by, where it has something that lasts.
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) size: u64,
    /// How many names it has.
    pub(crate) links: u64,
    /// Whether every user may write to it.
    pub(crate) is_writable_by_all: bool,
    /// Whether anybody but its owner may, be it a group.
    pub(crate) is_writable_by_others: bool,
}

/// Opens a file of this user's that nobody else may read, by its path.
pub(crate) fn open_own_file(path: &Path) -> io::Result<File> {
    let file = open_file_unlinked(path)?;
    let about = about(&file)?;
    if !about.is_file || !about.is_ours || about.is_open_to_others {
        let problem = "it is no file, another user's, or open to others";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(file)
}
