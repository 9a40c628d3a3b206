//! What the user has trusted, in the user's own folder: a small file for each project, named after the
//! project's real path.
//!
//! The folder counts only if it belongs to this account alone and is not in the project or its repository:
//! settings in a checkout can name another home for our process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use context_graph_policy::trust::Digest;
use context_graph_storage::safe_open::{Folder, is_ours, read_own_unlinked};
use serde::{Deserialize, Serialize};

use crate::Environment;

/// The name of our folder in the user's configuration folder.
const OURS: &str = "context-graph";
/// The name of the folder beside the user's own policy file.
const FOLDER: &str = "trust";
/// The format version of the files in it.
const VERSION: u32 = 1;
/// Largest file, in bytes: paths can be long.
const MAX_FILE: u64 = 64 * 1024;

/// The folder of trusted projects.
#[derive(Debug)]
pub(crate) struct TrustStore<'a> {
    environment: &'a Environment,
    folder: PathBuf,
}

/// A project that the user has trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrustedProject {
    version: u32,
    /// The project's real path.
    pub(crate) project: PathBuf,
    digest: String,
    /// When it was trusted.
    pub(crate) at_ms: i64,
}

impl TrustedProject {
    /// The digest that was trusted.
    pub(crate) fn digest(&self) -> Option<Digest> {
        Digest::parse(&self.digest)
    }
}

impl<'a> TrustStore<'a> {
    pub(crate) fn of(environment: &'a Environment) -> Self {
        Self { environment, folder: environment.config_home.join(OURS).join(FOLDER) }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The digest that was trusted at this place.
    pub(crate) fn look_up(&self, place: &Path) -> Option<Digest> {
        let entry = read(&self.folder.join(name(place)))?;
        (entry.project == place && self.trouble().is_none()).then(|| entry.digest()).flatten()
    }

    /// Why trust cannot be stored for this project; `None` if it can.
    pub(crate) fn trouble(&self) -> Option<String> {
        let shown = self.folder.display();
        if !self.folder.is_absolute() {
            return Some("no home folder is known, so trust cannot be stored".to_owned());
        }
        if let Ok(about) = self.folder.symlink_metadata() {
            if !about.is_dir() || !is_ours(&self.folder) {
                return Some(format!("{shown} is not a folder of yours"));
            }
            if is_open(&self.folder, &about) {
                return Some(format!("others may write to {shown}; `chmod 700` keeps them out"));
            }
        }
        self.environment
            .is_brought(&self.folder)
            .then(|| format!("{shown} is in the project or its repository, so its author could write to it"))
    }

    /// Trusts these files at this place.
    pub(crate) fn remember(&self, place: &Path, digest: Digest, at_ms: i64) -> Result<(), String> {
        if let Some(trouble) = self.trouble() {
            return Err(trouble);
        }
        let entry = TrustedProject {
            version: VERSION,
            project: place.to_path_buf(),
            digest: digest.to_string(),
            at_ms,
        };
        let bytes = serde_json::to_vec(&entry).map_err(|_| "the project's path is not UTF-8".to_owned())?;
        let written = fs::create_dir_all(&self.folder).and_then(|()| {
            let folder = Folder::open(&self.folder)?;
            folder.close_to_others()?;
            folder.replace(name(place), &bytes)
        });
        written.map_err(|error| format!("cannot write to {}: {error}", self.folder.display()))
    }

    /// Stops trusting this place. False if nothing was trusted there.
    pub(crate) fn forget(&self, place: &Path) -> Result<bool, String> {
        let file = self.folder.join(name(place));
        match fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("cannot remove {}: {error}", file.display())),
        }
    }

    /// Every project that is trusted, by path.
    pub(crate) fn list(&self) -> Result<Vec<TrustedProject>, String> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(format!("cannot read {}: {error}", self.folder.display())),
        };
        let mut found: Vec<TrustedProject> = entries
            .flatten()
            .filter_map(|file| {
                let entry = read(&file.path())?;
                (file.file_name() == name(&entry.project).as_str()).then_some(entry)
            })
            .collect();
        found.sort_by(|a, b| a.project.cmp(&b.project));
        Ok(found)
    }
}

/// The file name for a place.
fn name(place: &Path) -> String {
    let hash = blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}.json", &hash[..32])
}

fn read(file: &Path) -> Option<TrustedProject> {
    let bytes = read_own_unlinked(file, MAX_FILE).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|entry: &TrustedProject| entry.version == VERSION)
}

#[cfg(unix)]
fn is_open(_folder: &Path, about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(about) & 0o022 != 0
}

#[cfg(not(unix))]
fn is_open(folder: &Path, _about: &fs::Metadata) -> bool {
    context_graph_storage::safe_open::is_writable_by_others(folder)
}
