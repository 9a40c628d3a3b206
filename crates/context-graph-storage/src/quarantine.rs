//! Saves damaged bytes, named after what they were, and never overwrites them.
//!
//! File names are made from the damage itself, so the same damage met twice is saved and reported once.

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
        let folder = self.open()?;
        let path = self.folder.join(name);
        if folder.has(name) {
            return Ok((path, false));
        }
        folder.replace(name, bytes).context("save damaged bytes to", &path)?;
        Ok((path, true))
    }

    /// Moves a file in here as it is, unopened.
    pub(crate) fn take(&self, from: &Folder, name: &str, new: &str) -> Result<PathBuf> {
        let folder = self.open()?;
        from.move_to(name, &folder, new).context("move to quarantine", &from.path().join(name))?;
        Ok(self.folder.join(new))
    }

    /// Bytes of events that were lost, on record or not: the session's key and the name of the file.
    pub fn losses(&self) -> Vec<(String, String)> {
        let names = Folder::open(&self.folder).and_then(|folder| folder.names()).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let key = |name: &str| {
            let (key, rest) = name.split_once('.')?;
            rest.strip_prefix(LOST)?.starts_with('-').then(|| key.to_owned())
        };
        names.filter_map(|name| Some((key(&name)?, name))).collect()
    }

    /// Removes what was saved of the session whose key is `key`.
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

    /// Moves `files` of `from` into a new folder called `name`, numbered where that is taken.
    pub(crate) fn move_files(&self, name: &str, from: &Path, files: &[&str]) -> Result<PathBuf> {
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
        for file in files {
            match source.move_to(file, &target, file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).context("move to quarantine", &from.join(file));
                }
                _ => {}
            }
        }
        Ok(target.path().to_path_buf())
    }

    fn open(&self) -> Result<Folder> {
        let above = self.folder.parent().unwrap_or(&self.folder);
        let name = self.folder.file_name().unwrap_or_default();
        let opened = Folder::open(above).and_then(|above| above.folder_or_create(name));
        opened.map(|(folder, _)| folder).context("create", &self.folder)
    }
}

/// What the bytes of a lost event are called, behind the session's key.
pub(crate) const LOST: &str = "lost";

/// Where it is noted what is yet to be told.
const UNTOLD: &str = "untold";
/// More is not kept there: losses are on record as well.
const MAX_UNTOLD_BYTES: u64 = 64 << 10;

/// Notes beside the journals in `live` that something was lost, until somebody has been told.
pub(crate) fn note_loss(live: &Path, what: &OsStr) {
    // Whoever cannot write this down has put it on record, and says so now.
    let written =
        Folder::open(live).and_then(|live| live.file(UNTOLD, Access::AppendOrCreate)).and_then(|mut file| {
            if file.metadata()?.len() < MAX_UNTOLD_BYTES {
                file.write_all(&[what.as_encoded_bytes(), b"\n"].concat())?;
            }
            Ok(())
        });
    drop(written);
}

/// Whether something was lost that has not been told.
pub(crate) fn has_losses(live: &Folder) -> bool {
    live.has(UNTOLD)
}

/// What was lost and has not been told, a line each. It counts as told from now on.
pub(crate) fn take_losses(live: &Path) -> Vec<String> {
    let Ok(folder) = Folder::open(live) else { return Vec::new() };
    let Ok(bytes) = folder.read(UNTOLD, 2 * MAX_UNTOLD_BYTES) else { return Vec::new() };
    let _ = folder.remove(UNTOLD);
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

/// Takes it that somebody knows of the losses whose line begins so. What else is yet to be told stays.
pub(crate) fn forget_losses(live: &Path, beginning: &str) {
    for line in take_losses(live).iter().filter(|line| !line.starts_with(beginning)) {
        note_loss(live, line.as_ref());
    }
}

/// Creates `folder`, for its owner alone, unless it is there.
pub(crate) fn create_folder(folder: &Path) -> Result<()> {
    system::create_folders(folder).context("create", folder)
}
