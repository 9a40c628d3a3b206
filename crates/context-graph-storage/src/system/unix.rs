//! Unix: handles of folders, `openat` and its relatives, modes, advisory locks.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, IoSlice, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};

use super::{About, Access, Share};

/// Reading and writing at an offset.
pub(crate) use std::os::unix::fs::FileExt;

/// An open folder.
pub(crate) type Handle = OwnedFd;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Opening must not block on a pipe, and must not make a terminal the controlling one of this process.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
const OWNER_ALL: Mode = Mode::RWXU;
const OWNER_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a folder by its path. Links on the way are followed, a link at the end is not.
pub(crate) fn open_folder(path: &Path) -> io::Result<Handle> {
    retried(|| rustix::fs::openat(CWD, path, FOLDER, Mode::empty())).map_err(not_a_link)
}

/// Opens a folder by its path, following links.
pub(crate) fn open_any_folder(path: &Path) -> io::Result<Handle> {
    let flags = FOLDER.difference(OFlags::NOFOLLOW);
    retried(|| rustix::fs::openat(CWD, path, flags, Mode::empty())).map_err(Into::into)
}

/// Opens a folder in another one.
pub(crate) fn open_folder_in(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
    retried(|| rustix::fs::openat(folder, name, FOLDER, Mode::empty())).map_err(not_a_link)
}

/// Creates a folder in another one, for its owner only or, as far as the umask allows, for all.
pub(crate) fn create_folder_in(folder: &Handle, name: &OsStr, share: Share) -> io::Result<()> {
    let mode = if share == Share::Nobody { OWNER_ALL } else { Mode::RWXU | Mode::RWXG | Mode::RWXO };
    retried(|| rustix::fs::mkdirat(folder, name, mode)).map_err(Into::into)
}

/// Creates a folder and its missing parents, for their owner only.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNER_ALL.as_raw_mode() as _).create(path)
}

/// Creates an empty file for its owner only. It must not exist yet.
pub(crate) fn create_own_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(OWNER_FILE.as_raw_mode() as _).open(path).map(drop)
}

/// Sets the access rights of a new file.
pub(crate) fn share(file: &File, share: Share) -> io::Result<()> {
    let mode = match share {
        Share::Nobody => return Ok(()),
        Share::Readers => OWNER_FILE | Mode::RGRP | Mode::ROTH,
        Share::Runners => OWNER_ALL | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH,
    };
    rustix::fs::fchmod(file, mode).map_err(Into::into)
}

/// Opens a file in a folder. New files are for their owner only.
pub(crate) fn open_file_in(folder: &Handle, name: &OsStr, access: Access) -> io::Result<File> {
    open_from(folder.as_fd(), name.as_ref(), access)
}

/// Opens a file by its path. Links on the way are followed, a link at the end is not. New files are for their
/// owner only.
pub(crate) fn open_file_unlinked(path: &Path, access: Access) -> io::Result<File> {
    open_from(CWD, path, access)
}

fn open_from(folder: BorrowedFd<'_>, path: &Path, access: Access) -> io::Result<File> {
    let flags = FILE
        | match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::WriteOrCreate => OFlags::RDWR | OFlags::CREATE,
            Access::AppendOrCreate => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
            Access::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        };
    let opened = retried(|| rustix::fs::openat(folder, path, flags, OWNER_FILE)).map_err(not_a_link)?;
    Ok(File::from(opened))
}

/// Opens a file by its path for reading, following links. Does not block on a pipe.
pub(crate) fn open_file_at(path: &Path) -> io::Result<File> {
    let flags = FILE.difference(OFlags::NOFOLLOW) | OFlags::RDONLY;
    let opened = retried(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
    Ok(File::from(opened))
}

/// Moves a file or a folder from one folder to another.
pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    retried(|| rustix::fs::renameat(from, old, to, new)).map_err(Into::into)
}

/// Whether a file cannot be moved because it is open. On Unix, every open file can be moved.
pub(crate) fn is_in_use(_error: &io::Error) -> bool {
    false
}

/// Removes a file, or a link itself.
pub(crate) fn remove_file_in(folder: &Handle, name: &OsStr) -> io::Result<()> {
    retried(|| rustix::fs::unlinkat(folder, name, AtFlags::empty())).map_err(Into::into)
}

/// Removes an empty folder.
pub(crate) fn remove_folder_in(folder: &Handle, name: &OsStr) -> io::Result<()> {
    retried(|| rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)).map_err(Into::into)
}

/// Syncs a folder, so that the names in it survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The names in a folder.
pub(crate) fn names(folder: &Handle) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Whether there is something of that name in a folder, even a link.
pub(crate) fn is_there(folder: &Handle, name: &OsStr) -> bool {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// The metadata of something open.
pub(crate) fn about(handle: impl std::os::fd::AsFd) -> io::Result<About> {
    Ok(about_stat(&rustix::fs::fstat(handle)?))
}

/// Whether a file that was opened at this path was removed meanwhile.
pub(crate) fn is_removed(about: &About, _path: &Path) -> bool {
    about.links == 0
}

/// The metadata of something by its path; a link is not followed.
pub(crate) fn about_path(path: &Path) -> io::Result<About> {
    Ok(about_stat(&rustix::fs::lstat(path)?))
}

#[expect(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "the fields differ in width and sign by system"
)]
fn about_stat(stat: &Stat) -> About {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let mode = Mode::from_raw_mode(stat.st_mode);
    About {
        is_file: kind == FileType::RegularFile,
        is_ours: stat.st_uid == 0 || stat.st_uid == rustix::process::geteuid().as_raw(),
        is_open_to_others: mode.intersects(Mode::RWXG | Mode::RWXO),
        identity: Some((stat.st_dev as u64, stat.st_ino as u64)),
        size: stat.st_size as u64,
        links: stat.st_nlink as u64,
        is_writable_by_all: mode.contains(Mode::WOTH),
        is_writable_by_others: mode.intersects(Mode::WGRP | Mode::WOTH),
    }
}

/// Removes the access of everybody but the owner to a folder.
pub(crate) fn close_folder(folder: &Handle) -> io::Result<()> {
    rustix::fs::fchmod(folder, OWNER_ALL).map_err(Into::into)
}

/// Removes the access of everybody but the owner to a file.
pub(crate) fn close_file(file: &File) -> io::Result<()> {
    rustix::fs::fchmod(file, OWNER_FILE).map_err(Into::into)
}

/// The effective user id of this process, as bytes.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere the system may refuse to say")]
pub(crate) fn user_id() -> io::Result<[u8; 4]> {
    Ok(rustix::process::geteuid().as_raw().to_le_bytes())
}

/// Waits for an exclusive lock on a file.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    file.lock()
}

/// Locks a file if nobody else has locked it; returns whether it is locked now.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Releases the lock.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Shortens a file that may be open for appending.
pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

/// Appends all parts with one call, and returns the number of bytes written.
pub(crate) fn write_once(mut file: &File, parts: &[&[u8]; 3]) -> io::Result<usize> {
    let parts = parts.map(IoSlice::new);
    loop {
        match file.write_vectored(&parts) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Replaces the error for a link in place of a file or folder, which differs between systems, by one of ours.
fn not_a_link(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP | rustix::io::Errno::MLINK => {
            io::Error::new(io::ErrorKind::InvalidInput, "it is a link, and links are not followed here")
        }
        other => other.into(),
    }
}

fn retried<T>(mut attempt: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match attempt() {
            Err(rustix::io::Errno::INTR) => {}
            other => return other,
        }
    }
}
