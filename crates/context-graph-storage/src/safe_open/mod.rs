//! The only way to open files in a folder that others may have written to.
//!
//! A checkout, an unpacked archive or another user of the machine can bring files, links, pipes and devices. Here a
//! folder is held by a handle, and files are opened relative to it. No link is followed, only regular files of this
//! user are opened, opening never blocks, and reading stops at a limit. New files get a random name and are moved to
//! their place when they are complete.
//!
//! Links above the first folder are followed: those are the user's own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use crate::system::{self, About, Handle};

pub use crate::system::{Access, Share};

/// An open folder. Its handle stays valid if the folder is moved or replaced.
#[derive(Debug)]
pub struct Folder {
    handle: Handle,
    /// Its metadata when it was opened. Its owner and its inode number do not change; its mode may.
    about: About,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder. The last part of its path must not be a link, and the folder must belong to this user.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::checked(system::open_folder(path)?, path.to_path_buf())
    }

    fn checked(handle: Handle, path: PathBuf) -> io::Result<Self> {
        let about = system::about(&handle)?;
        refuse_foreign(about)?;
        Ok(Self { handle, about, path })
    }

    /// Opens the folder to start from, whoever owns it; links to it are followed. What is below it is checked.
    pub fn open_any(path: &Path) -> io::Result<Self> {
        let handle = system::open_any_folder(path)?;
        let about = system::about(&handle)?;
        Ok(Self { handle, about, path: path.to_path_buf() })
    }

    /// Its path when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in this one.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = one_name(name.as_ref())?;
        Self::checked(system::open_folder_in(&self.handle, name)?, self.path.join(name))
    }

    /// A folder in this one, created with access only for its owner if it is missing. The flag is true if it
    /// was created.
    pub fn folder_or_create(&self, name: impl AsRef<OsStr>) -> io::Result<(Self, bool)> {
        self.folder_or_share(name.as_ref(), Share::Nobody)
    }

    fn folder_or_share(&self, name: &OsStr, share: Share) -> io::Result<(Self, bool)> {
        let name = one_name(name)?;
        match self.folder(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other.map(|folder| (folder, false)),
        }
        match system::create_folder_in(&self.handle, name, share) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.folder(name).map(|folder| (folder, false))
            }
            made => made.and_then(|()| self.folder(name)).map(|folder| (folder, true)),
        }
    }

    /// A regular file in this folder. If it is opened for writing, others lose access to it.
    pub fn file(&self, name: impl AsRef<OsStr>, access: Access) -> io::Result<File> {
        self.examined(name.as_ref(), access).map(|(file, _)| file)
    }

    fn examined(&self, name: &OsStr, access: Access) -> io::Result<(File, About)> {
        let file = system::open_file_in(&self.handle, one_name(name)?, access)?;
        let about = system::about(&file)?;
        refuse_other_kinds(about)?;
        refuse_foreign(about)?;
        if about.is_open_to_others && access != Access::Read {
            system::close_file(&file)?;
        }
        Ok((file, about))
    }

    /// The content of a file in this folder; more than `limit` bytes are an error.
    pub fn read(&self, name: impl AsRef<OsStr>, limit: u64) -> io::Result<Vec<u8>> {
        let (file, about) = self.examined(name.as_ref(), Access::Read)?;
        read_up_to(file, about, limit)
    }

    /// A new file with an unpredictable name: to be written, and then renamed.
    pub fn temporary(&self) -> io::Result<(OsString, File)> {
        let name = temporary_name()?;
        let file = self.file(&name, Access::CreateNew)?;
        Ok((name, file))
    }

    /// Replaces a file atomically, whatever is there: a reader finds the complete old or new content.
    pub fn replace(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        self.put(name.as_ref(), bytes, Share::Nobody)
    }

    fn put(&self, name: &OsStr, bytes: &[u8], share: Share) -> io::Result<()> {
        let name = one_name(name)?;
        let (part, mut file) = self.temporary()?;
        let placed = system::share(&file, share)
            .and_then(|()| file.write_all(bytes))
            .and_then(|()| file.sync_data())
            .and_then(|()| system::rename(&self.handle, &part, &self.handle, name));
        if placed.is_err() {
            let _ = system::remove_file_in(&self.handle, &part);
        }
        placed
    }

    /// Moves `name` to another folder, unopened: a link stays a link.
    pub fn move_to(&self, name: impl AsRef<OsStr>, to: &Self, new: impl AsRef<OsStr>) -> io::Result<()> {
        system::rename(&self.handle, one_name(name.as_ref())?, &to.handle, one_name(new.as_ref())?)
    }

    /// Removes a file, or the link itself.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        system::remove_file_in(&self.handle, one_name(name.as_ref())?)
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        system::remove_folder_in(&self.handle, one_name(name.as_ref())?)
    }

    /// Whether there is anything of that name, even a link.
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        one_name(name.as_ref()).is_ok_and(|name| system::is_there(&self.handle, name))
    }

    /// The names in the folder, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = system::names(&self.handle)?;
        names.sort();
        Ok(names)
    }

    /// Removes the access of everybody but the owner.
    pub fn close_to_others(&self) -> io::Result<()> {
        if system::about(&self.handle)?.is_open_to_others {
            system::close_folder(&self.handle)
        } else {
            Ok(())
        }
    }

    /// Whether somebody else had any access to it when it was opened.
    pub fn is_open_to_others(&self) -> bool {
        self.about.is_open_to_others
    }

    /// Its metadata when it was opened.
    pub(crate) fn about(&self) -> About {
        self.about
    }
}

/// The content of a file below `root`: no part of its path may be a link. More than `limit` bytes are an error.
pub fn read_below(root: &Path, relative: &Path, limit: u64) -> io::Result<Vec<u8>> {
    folder_of(root, relative)?.read(relative.file_name().unwrap_or_default(), limit)
}

/// The folder of a file below `root`, if no part of its path is a link.
pub fn folder_of(root: &Path, relative: &Path) -> io::Result<Folder> {
    way_to(relative).try_fold(Folder::open_any(root)?, |folder, part| folder.folder(part))
}

/// Replaces a file below `root`, and creates missing folders on the way. A link at the end is replaced, a link
/// on the way is an error.
pub fn write_below(root: &Path, relative: &Path, bytes: &[u8], share: Share) -> io::Result<()> {
    let made = way_to(relative).try_fold(Folder::open_any(root)?, |folder, part| {
        folder.folder_or_share(part.as_ref(), share).map(|(folder, _)| folder)
    })?;
    made.put(relative.file_name().unwrap_or_default(), bytes, share)
}

/// The components of a relative path.
fn way_to(relative: &Path) -> impl Iterator<Item = Component<'_>> {
    let above = relative.parent().into_iter().flat_map(Path::components);
    above.filter(|part| *part != Component::CurDir)
}

/// The content of a file that controls others, by its path: no link at the end, a regular file of this user,
/// and not writable by anybody else. More than `limit` bytes are an error.
pub fn read_own_unlinked(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = system::open_file_unlinked(path, Access::Read)?;
    let about = system::about(&file)?;
    refuse_other_kinds(about)?;
    refuse_foreign(about)?;
    if about.is_writable_by_all {
        let problem = "every user may write to it; `chmod o-w` keeps the others out";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    read_up_to(file, about, limit)
}

/// The content of a file with the user's own rules, by its path. It may be a link, but must lead to a regular
/// file of this user that nobody else may write to. More than `limit` bytes are an error.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = system::open_file_at(path)?;
    let about = system::about(&file)?;
    refuse_other_kinds(about)?;
    refuse_foreign(about)?;
    if about.is_writable_by_others {
        let problem = "others may write to it; `chmod go-w` keeps them out";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    read_up_to(file, about, limit)
}

/// The content of a regular file, whoever owns it; links are followed. More than `limit` bytes are an error.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let about = system::about(&file)?;
    read_up_to(file, about, limit)
}

/// A regular file opened for reading, whoever owns it; links are followed. Files on which opening would block
/// are refused.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = system::open_file_at(path)?;
    refuse_other_kinds(system::about(&file)?)?;
    Ok(file)
}

/// The suffix of incomplete files.
const PART: &str = ".part";

/// A new name for an incomplete file.
pub(crate) fn temporary_name() -> io::Result<OsString> {
    Ok(format!(".{}{PART}", random_name()?).into())
}

/// Whether this is the name of one of our incomplete files.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(PART)
}

/// Whether something belongs to this user or to the system; a link is not followed.
pub fn is_ours(path: &Path) -> bool {
    system::about_path(path).is_ok_and(|about| about.is_ours)
}

/// Whether somebody else may write to it; a link is not followed.
pub fn is_writable_by_others(path: &Path) -> bool {
    system::about_path(path).is_ok_and(|about| about.is_writable_by_others)
}

fn read_up_to(file: File, about: About, limit: u64) -> io::Result<Vec<u8>> {
    let size = about.size.min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(refused(&format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

fn refuse_other_kinds(about: About) -> io::Result<()> {
    if about.is_file { Ok(()) } else { Err(refused("it is not a regular file")) }
}

fn refuse_foreign(about: About) -> io::Result<()> {
    if about.is_ours {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"))
}

/// A single name without separators or `..`.
fn one_name(name: &OsStr) -> io::Result<&OsStr> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == name => Ok(part),
        _ => Err(refused("it is not a single name")),
    }
}

fn refused(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem.to_owned())
}

/// Sixteen random bytes from the operating system, as text.
pub fn random_name() -> io::Result<String> {
    Ok(format!("{:032x}", u128::from_le_bytes(random()?)))
}

/// Random bytes from the operating system.
pub(crate) fn random<const LENGTH: usize>() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
