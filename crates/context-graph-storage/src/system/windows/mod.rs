//! Windows: open folders that nobody can move, access lists instead of modes, locks outside the content.
//!
//! The documented interface has no `openat`. Instead a folder is opened without `FILE_SHARE_DELETE`: until it
//! is closed, nobody can rename or remove it or a folder above it, so its real path stays valid. Paths have
//! the form that `GetFinalPathNameByHandleW` returns, `\\?\`, in which no name is that of a device.
//!
//! A file is created with the rights that it inherits from its folder, and closed to others right after that,
//! while it is empty. File systems without owners (FAT) are refused: their files belong to everybody.

mod calls;
mod rights;

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use winapi_util::HandleRef;
use winapi_util::file::information;
use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DEVICE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TRAVERSE,
    FILE_WRITE_DATA, READ_CONTROL, SECURITY_IDENTIFICATION, SYNCHRONIZE, WRITE_DAC,
};

use super::access_list::For;
use super::{About, Access, Share};
use crate::safe_open::temporary_name;

pub(crate) use calls::{lock, try_lock, unlock};

/// An open folder.
#[derive(Debug)]
pub(crate) struct Handle {
    file: File,
    /// Its real path, valid while it is open.
    path: PathBuf,
}

impl Borrow<File> for &Handle {
    fn borrow(&self) -> &File {
        &self.file
    }
}

impl From<Handle> for File {
    fn from(handle: Handle) -> Self {
        handle.file
    }
}

/// To read the attributes and the access list.
const LOOK: u32 = FILE_READ_ATTRIBUTES | READ_CONTROL | SYNCHRONIZE;
/// Only a handle with the right to list a folder prevents others from renaming it.
const FOLDER: u32 = LOOK | FILE_LIST_DIRECTORY | FILE_TRAVERSE;
/// To write at any position, and to change the access list.
const WRITE: u32 = FILE_GENERIC_READ | FILE_GENERIC_WRITE | WRITE_DAC;
/// Without the right to write at any position, each write goes to the end.
const APPEND: u32 = WRITE & !FILE_WRITE_DATA;

/// Opens a folder by its path. Links on the way are followed, a link at the end is not.
pub(crate) fn open_folder(path: &Path) -> io::Result<Handle> {
    hold(path, FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Opens a folder by its path, following links.
pub(crate) fn open_any_folder(path: &Path) -> io::Result<Handle> {
    hold(path, 0)
}

/// Opens a folder in another one.
pub(crate) fn open_folder_in(folder: &Handle, name: &OsStr) -> io::Result<Handle> {
    open_folder(&inside(folder, name)?)
}

/// Creates a folder in another one, for its owner only or with inherited rights.
pub(crate) fn create_folder_in(folder: &Handle, name: &OsStr, share: Share) -> io::Result<()> {
    fs::create_dir(inside(folder, name)?)?;
    if share == Share::Nobody {
        close_folder(&open_folder_in(folder, name)?)?;
    }
    Ok(())
}

/// Creates a folder and its missing parents. The last one is closed to others if it is new.
pub(crate) fn create_folders(path: &Path) -> io::Result<()> {
    let is_there = path.is_dir();
    DirBuilder::new().recursive(true).create(path)?;
    if is_there { Ok(()) } else { close_folder(&open_folder(path)?) }
}

/// Creates an empty file for its owner only. It must not exist yet.
pub(crate) fn create_own_file(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).access_mode(WRITE).open(path)?;
    close_file(&file)
}

/// Sets the access rights of a new file. Whoever may read it may also run it: on Windows its name decides
/// that.
pub(crate) fn share(file: &File, share: Share) -> io::Result<()> {
    match share {
        Share::Nobody => Ok(()),
        Share::Readers | Share::Runners => rights::set(file, For::Readers),
    }
}

/// Opens a file in a folder. New files inherit the folder's rights.
pub(crate) fn open_file_in(folder: &Handle, name: &OsStr, access: Access) -> io::Result<File> {
    open_file_unlinked(&inside(folder, name)?, access)
}

/// Opens a file by its path. Links on the way are followed, a link at the end is not. New files inherit the rights of
/// their folder. The server of a pipe cannot impersonate us.
pub(crate) fn open_file_unlinked(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).security_qos_flags(SECURITY_IDENTIFICATION);
    match access {
        Access::Read => &mut options,
        Access::Write => options.write(true).access_mode(WRITE),
        Access::WriteOrCreate => options.write(true).create(true).access_mode(WRITE),
        Access::AppendOrCreate => options.append(true).create(true).access_mode(APPEND),
        Access::CreateNew => options.write(true).create_new(true).access_mode(WRITE),
    };
    not_a_link(options.open(path)?)
}

/// Opens a file by its path for reading, following links. Does not block on a pipe, and its server cannot
/// impersonate us.
pub(crate) fn open_file_at(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).security_qos_flags(SECURITY_IDENTIFICATION).open(path)
}

/// Moves a file or a folder from one folder to another.
pub(crate) fn rename(from: &Handle, old: &OsStr, to: &Handle, new: &OsStr) -> io::Result<()> {
    let (old, new) = (inside(from, old)?, inside(to, new)?);
    for pause_ms in [1, 2, 4, 8, 16, 32] {
        match fs::rename(&old, &new) {
            // Somebody has one of them open: a virus scanner, or a reader on a file system that cannot replace open
            // files.
            Err(error) if is_in_use(&error) || error.kind() == io::ErrorKind::PermissionDenied => {
                thread::sleep(Duration::from_millis(pause_ms));
            }
            renamed => return renamed,
        }
    }
    fs::rename(old, new)
}

/// Whether a file cannot be moved because it is open.
pub(crate) fn is_in_use(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_SHARING_VIOLATION.cast_signed())
}

/// Removes a file, or a link itself.
pub(crate) fn remove_file_in(folder: &Handle, name: &OsStr) -> io::Result<()> {
    let path = inside(folder, name)?;
    // A link to a folder is removed like an empty folder.
    if fs::symlink_metadata(&path)?.file_type().is_symlink_dir() {
        return fs::remove_dir(path);
    }
    // On some file systems the name of a removed file is not free until the file is closed, so it is renamed first.
    let aside = folder.path.join(temporary_name()?);
    let is_aside = fs::rename(&path, &aside).is_ok();
    fs::remove_file(if is_aside { aside } else { path })
}

/// Removes an empty folder.
pub(crate) fn remove_folder_in(folder: &Handle, name: &OsStr) -> io::Result<()> {
    let path = inside(folder, name)?;
    if !fs::symlink_metadata(&path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    fs::remove_dir(path)
}

/// Makes the names in a folder survive a power cut. Windows has no call for that; NTFS keeps names in its own
/// journal.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere the disk may fail")]
pub(crate) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// The names in a folder.
pub(crate) fn names(folder: &Handle) -> io::Result<Vec<OsString>> {
    fs::read_dir(&folder.path)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Whether there is something of that name in a folder, even a link.
pub(crate) fn is_there(folder: &Handle, name: &OsStr) -> bool {
    inside(folder, name).is_ok_and(|path| fs::symlink_metadata(path).is_ok())
}

/// The metadata of something open. It is an error if it is neither a file nor a folder on a disk.
pub(crate) fn about(file: impl Borrow<File>) -> io::Result<About> {
    let found = information(HandleRef::from_file(file.borrow()))?;
    let rights = rights::of(file.borrow())?;
    Ok(About {
        is_file: found.file_attributes() & u64::from(FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE) == 0,
        is_ours: rights.is_ours,
        is_open_to_others: rights.is_open_to_others,
        identity: Some((found.volume_serial_number(), found.file_index())),
        size: found.file_size(),
        is_writable_by_all: rights.is_writable_by_all,
        is_writable_by_others: rights.is_writable_by_others,
    })
}

/// Whether a file that was opened at this path was removed meanwhile, so that the path leads nowhere or to another one.
pub(crate) fn is_removed(about: &About, path: &Path) -> bool {
    about_path(path).map_or(true, |there| there.identity != about.identity)
}

/// The metadata of something by its path; a link is not followed.
pub(crate) fn about_path(path: &Path) -> io::Result<About> {
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    about(OpenOptions::new().access_mode(LOOK).custom_flags(flags).open(path)?)
}

/// Removes the access of everybody but the owner to a folder and to what will be created in it.
pub(crate) fn close_folder(folder: &Handle) -> io::Result<()> {
    // Most handles of folders do not have the right to change them.
    let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
    let file = OpenOptions::new().access_mode(LOOK | WRITE_DAC).custom_flags(flags).open(&folder.path)?;
    rights::set(&not_a_link(file)?, For::OwnerAndBelow)
}

/// Removes the access of everybody but the owner to a file.
pub(crate) fn close_file(file: &File) -> io::Result<()> {
    rights::set(file, For::Owner)
}

/// The SID of the user whose rights this process has.
pub(crate) fn user_id() -> io::Result<Vec<u8>> {
    rights::user().map(<[u8]>::to_vec)
}

/// Shortens a file. The handle may be open for appending only, which does not include that right.
pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
    calls::reopen(file, FILE_GENERIC_WRITE)?.set_len(length)
}

/// Writes all parts with one call, and returns the number of bytes written.
pub(crate) fn write_once(mut file: &File, parts: &[&[u8]; 3]) -> io::Result<usize> {
    // A vectored write would stop after the first part.
    file.write(&parts.concat())
}

/// Reading and writing at an offset. This also moves the file's own position, which nobody uses.
pub(crate) trait FileExt {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;
    fn read_exact_at(&self, bytes: &mut [u8], at: u64) -> io::Result<()>;
    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.seek_read(bytes, at)
    }

    fn read_exact_at(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.seek_read(bytes, at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    bytes = &mut bytes[read..];
                    at += read as u64;
                }
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.seek_write(bytes, at)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => {
                    bytes = &bytes[written..];
                    at += written as u64;
                }
            }
        }
        Ok(())
    }
}

/// Opens a folder so that nobody can move it until it is closed.
fn hold(path: &Path, flags: u32) -> io::Result<Handle> {
    let mut options = OpenOptions::new();
    options.access_mode(FOLDER).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
    let file = options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags).open(path)?;
    let found = file.metadata()?;
    // If links are followed, their target may be a reparse point of another kind.
    if flags & FILE_FLAG_OPEN_REPARSE_POINT != 0 {
        refuse_link(&found)?;
    }
    if found.file_attributes() & FILE_ATTRIBUTE_DIRECTORY == 0 {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let path = calls::real_path(&file)?;
    Ok(Handle { file, path })
}

/// The path of something in a folder.
fn inside(folder: &Handle, name: &OsStr) -> io::Result<PathBuf> {
    // After a colon comes the name of an alternate stream, which no listing shows.
    if name.encode_wide().any(|unit| unit == u16::from(b':')) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is a colon in its name"));
    }
    Ok(folder.path.join(name))
}

fn not_a_link(file: File) -> io::Result<File> {
    refuse_link(&file.metadata()?)?;
    Ok(file)
}

/// Refuses links of every kind, and files whose content is stored elsewhere: they are opened without following, and
/// then have other content.
fn refuse_link(found: &Metadata) -> io::Result<()> {
    if found.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link, and links are not followed here"))
}

#[cfg(test)]
mod tests;
