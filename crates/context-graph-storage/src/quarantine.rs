//! Where damaged bytes go: saved, named after what they were, never overwritten by something else.
//!
//! File names are made from the damage itself, so the same damage met twice is saved and reported once.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result};

/// The folder of damaged bytes.
#[derive(Debug, Clone)]
pub struct Quarantine {
    folder: PathBuf,
}

impl Quarantine {
    /// A quarantine in `folder`, which is created when first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves `bytes` as `name`. The flag is true when they were not there yet.
    pub(crate) fn save(&self, name: &str, bytes: &[u8]) -> Result<(PathBuf, bool)> {
        create_folder(&self.folder)?;
        let path = self.folder.join(name);
        if path.symlink_metadata().is_ok() {
            return Ok((path, false));
        }
        // Half a copy under the final name would pass for the whole one next time.
        let part = self.folder.join(format!("{name}.part"));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let written = options.open(&part).and_then(|mut file| file.write_all(bytes));
        written.and_then(|()| fs::rename(&part, &path)).context("save damaged bytes to", &path)?;
        Ok((path, true))
    }

    /// Removes what was saved of the session whose key is `key`.
    pub(crate) fn forget(&self, key: &str) -> Result<()> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let own = name
                .to_str()
                .and_then(|name| name.strip_prefix(key))
                .is_some_and(|rest| rest.starts_with('.'));
            if own {
                fs::remove_file(entry.path()).context("remove", &entry.path())?;
            }
        }
        Ok(())
    }

    /// Moves `files` of `from` into a new folder called `name`, numbered where that is taken.
    pub(crate) fn move_files(&self, name: &str, from: &Path, files: &[&str]) -> Result<PathBuf> {
        create_folder(&self.folder)?;
        let mut target = self.folder.join(name);
        for number in 2.. {
            match DirBuilder::new().mode(0o700).create(&target) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    target = self.folder.join(format!("{name}-{number}"));
                }
                Err(error) => return Err(error).context("create", &target),
            }
        }
        for file in files {
            let (source, destination) = (from.join(file), target.join(file));
            match rename_or_copy(&source, &destination) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).context("move to quarantine", &source);
                }
                _ => {}
            }
        }
        Ok(target)
    }
}

/// A database named by the user may be on another file system than the state folder.
fn rename_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::copy(from, to)?;
            fs::remove_file(from)
        }
        other => other,
    }
}

/// Creates `folder`, for its owner alone, unless it is there.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).context("create", folder)
}
