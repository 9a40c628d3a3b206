//! Saves damaged bytes under names that say what they were, and never overwrites them.
//!
//! File names are derived from the damage itself, so the same damage found twice is saved and reported once.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result};
use crate::safe_open::{Access, Folder};
use crate::system;

/// The folder of damaged bytes.
#[derive(Debug, Clone)]
pub struct Quarantine {
    folder: PathBuf,
}

impl Quarantine {
    /// A quarantine in `folder`, which is created when it is first needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves `bytes` as `name`. The flag is true if they were not there yet.
    pub(crate) fn save(&self, name: &str, bytes: &[u8]) -> Result<(PathBuf, bool)> {
        let folder = self.open()?;
        let path = self.folder.join(name);
        if folder.has(name) {
            return Ok((path, false));
        }
        folder.replace(name, bytes).context("save damaged bytes to", &path)?;
        Ok((path, true))
    }

    /// Moves a file here unopened.
    pub(crate) fn take(&self, from: &Folder, name: &str, new: &str) -> Result<PathBuf> {
        let folder = self.open()?;
        from.move_to(name, &folder, new).context("move to quarantine", &from.path().join(name))?;
        Ok(self.folder.join(new))
    }

    /// The saved bytes of lost events, on record or not: the session's key and the file name.
    pub fn losses(&self) -> Vec<(String, String)> {
        let names = Folder::open(&self.folder).and_then(|folder| folder.names()).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let key = |name: &str| {
            let (key, rest) = name.split_once('.')?;
            rest.strip_prefix(LOST)?.starts_with('-').then(|| key.to_owned())
        };
        names.filter_map(|name| Some((key(&name)?, name))).collect()
    }

    /// Removes what was saved of the session with the key `key`.
    pub(crate) fn forget(&self, key: &str) -> Result<()> {
        let folder = match Folder::open(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.context("open", &self.folder)?,
        };
        for name in folder.names().context("list", &self.folder)? {
            let own = name
                .to_str()
                .and_then(|name| name.strip_prefix(key))
                .is_some_and(|rest| rest.starts_with('.'));
            if own {
                folder.remove(&name).context("remove", &self.folder.join(&name))?;
            }
        }
        Ok(())
    }

    /// Moves `files` of `from` into a new folder called `name`, with a number if that exists; what is still in use
    /// is moved when `later` is dropped.
    pub(crate) fn move_files(
        &self,
        name: &str,
        from: &Path,
        files: &'static [&'static str],
        later: &Later,
    ) -> Result<PathBuf> {
        let folder = self.open()?;
        let mut target = name.to_owned();
        let target = loop {
            let (made, is_new) =
                folder.folder_or_create(&target).context("create", &self.folder.join(&target))?;
            if is_new {
                break made;
            }
            let number = target.rsplit_once('-').and_then(|(_, number)| number.parse::<u32>().ok());
            target = format!("{name}-{}", number.unwrap_or(1) + 1);
        };
        let source = Folder::open(from).context("open", from)?;
        let (moved_to, mut waiting) = (target.path().to_path_buf(), Vec::new());
        for file in files {
            match source.move_to(file, &target, file) {
                Err(error) if system::is_in_use(&error) => waiting.push(*file),
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).context("move to quarantine", &from.join(file));
                }
                _ => {}
            }
        }
        if !waiting.is_empty() {
            later.0.replace(Some(Moving { source, target, files: waiting }));
        }
        Ok(moved_to)
    }

    fn open(&self) -> Result<Folder> {
        let above = self.folder.parent().unwrap_or(&self.folder);
        let name = self.folder.file_name().unwrap_or_default();
        let opened = Folder::open(above).and_then(|above| above.folder_or_create(name));
        opened.map(|(folder, _)| folder).context("create", &self.folder)
    }
}

/// Files to move once they are closed: Windows cannot move a file that SQLite has open. If another process still has
/// one open, the files stay, and the next process that finds the damage tries again.
#[derive(Debug, Default)]
pub(crate) struct Later(RefCell<Option<Moving>>);

#[derive(Debug)]
struct Moving {
    source: Folder,
    target: Folder,
    files: Vec<&'static str>,
}

impl Drop for Later {
    fn drop(&mut self) {
        if let Some(Moving { source, target, files }) = self.0.take() {
            for file in files {
                let _ = source.move_to(file, &target, file);
            }
        }
    }
}

/// The part of a file name after the session's key that marks lost events.
pub(crate) const LOST: &str = "lost";

/// The file with losses that were not reported yet.
const UNTOLD: &str = "untold";
/// Nothing is added to a file of this size: the losses are on record anyway.
const MAX_UNTOLD_BYTES: u64 = 64 << 10;

/// Notes a loss next to the journals in `live` until it was reported.
pub(crate) fn note_loss(live: &Path, what: &OsStr) {
    // Errors are ignored: the loss is on record, and this process reports it.
    let written =
        Folder::open(live).and_then(|live| live.file(UNTOLD, Access::AppendOrCreate)).and_then(|mut file| {
            if file.metadata()?.len() < MAX_UNTOLD_BYTES {
                file.write_all(&[what.as_encoded_bytes(), b"\n"].concat())?;
            }
            Ok(())
        });
    drop(written);
}

/// Whether there is a loss that was not reported yet.
pub(crate) fn has_losses(live: &Folder) -> bool {
    live.has(UNTOLD)
}

/// The losses that were not reported yet, one line each. They count as reported from now on.
pub(crate) fn take_losses(live: &Path) -> Vec<String> {
    let Ok(folder) = Folder::open(live) else { return Vec::new() };
    let Ok(bytes) = folder.read(UNTOLD, 2 * MAX_UNTOLD_BYTES) else { return Vec::new() };
    let _ = folder.remove(UNTOLD);
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// Removes the losses whose line begins like this, because the user knows about them. The others stay.
pub(crate) fn forget_losses(live: &Path, beginning: &str) {
    for line in take_losses(live).iter().filter(|line| !line.starts_with(beginning)) {
        note_loss(live, line.as_ref());
    }
}

/// Creates `folder` with access only for its owner, unless it exists.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    system::create_folders(folder).context("create", folder)
}
