//! Where the state of a project lives, and which paths are refused.
//!
//! Nothing here reads the environment or the working folder: both are arguments.

mod database;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{IoContext, Result, StorageError};
use crate::live::{LiveSession, live_sessions};
use crate::quarantine::Quarantine;
use crate::store::{Glance, LmdbOptions, LmdbStore};

/// The name of the state folder.
pub const STATE_FOLDER: &str = ".context-graph";

/// The state of one project: `.context-graph/` in its root.
#[derive(Debug, Clone)]
pub struct StateFolder {
    root: PathBuf,
    folder: PathBuf,
    /// The database, where the user wants it elsewhere.
    named: Option<PathBuf>,
}

impl StateFolder {
    /// The project's root: the folder that the client names, else the nearest one upward from `start` that has a
    /// `.context-graph` or a `.git`, else `start`.
    pub fn locate(project_dir: Option<&Path>, start: &Path) -> PathBuf {
        if let Some(named) = project_dir.filter(|named| !named.as_os_str().is_empty()) {
            return start.join(named);
        }
        let marked = |folder: &&Path| {
            [STATE_FOLDER, ".git"].iter().any(|mark| folder.join(mark).symlink_metadata().is_ok())
        };
        start.ancestors().find(marked).unwrap_or(start).to_path_buf()
    }

    /// The state folder of the project in `root`, created where it is missing. A `db_path` places the database
    /// elsewhere: relative to `root`, or absolute.
    ///
    /// Costs two system calls when all is there.
    pub fn open_or_create(root: &Path, db_path: Option<&Path>) -> Result<Self> {
        let named = db_path.map(|path| database::resolve(root, path)).transpose()?;
        let state = Self { root: root.to_path_buf(), folder: root.join(STATE_FOLDER), named };
        for folder in [state.folder.clone(), state.live_folder()] {
            match fs::symlink_metadata(&folder) {
                Ok(found) if found.is_dir() => {}
                Ok(found) if found.is_symlink() => stay_inside(&folder, root)?,
                Ok(_) => return Err(not_a_folder(&folder)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => state.create(&folder)?,
                Err(error) => return Err(unusable(&folder, "inspected", &error)),
            }
        }
        Ok(state)
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The state folder itself.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The folder of live sessions.
    pub fn live_folder(&self) -> PathBuf {
        self.folder.join("live")
    }

    /// Where damaged bytes go.
    pub fn quarantine(&self) -> Quarantine {
        Quarantine::new(self.folder.join("quarantine"))
    }

    /// The database's folder.
    pub fn database(&self) -> PathBuf {
        self.named.clone().unwrap_or_else(|| self.folder.join("data"))
    }

    /// The live files of a session; touches nothing on disk.
    pub fn session(&self, session_id: &str) -> Result<LiveSession> {
        LiveSession::new(&self.live_folder(), session_id, self.quarantine())
    }

    /// The sessions that have a journal, with its size: those not retired yet.
    pub fn live_sessions(&self) -> Result<Vec<(String, u64)>> {
        live_sessions(&self.live_folder(), None)
    }

    /// Those of them whose journal was written to since `since_ms`.
    pub fn live_sessions_since(&self, since_ms: i64) -> Result<Vec<(String, u64)>> {
        live_sessions(&self.live_folder(), Some(since_ms))
    }

    /// Opens the store, creating it where it is missing.
    pub fn open_store(&self, now_ms: i64) -> Result<LmdbStore> {
        let folder = self.database();
        if self.named.is_none() {
            database::examine(&folder, &self.folder)?;
        }
        let quarantine = self.quarantine().folder().to_path_buf();
        LmdbStore::open(&LmdbOptions { quarantine, ..LmdbOptions::new(folder, now_ms) })
    }

    /// The store, looked at without opening it; an error where that cannot be done.
    pub fn glance(&self) -> Result<Glance> {
        let folder = self.database();
        if self.named.is_none() {
            database::examine(&folder, &self.folder)?;
        }
        Glance::glance(&folder)
    }

    fn create(&self, folder: &Path) -> Result<()> {
        let made = DirBuilder::new().recursive(folder != self.folder).mode(0o700).create(folder);
        match made {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(unusable(folder, "created", &error));
            }
            _ => {}
        }
        // The state is nobody else's, nor the repository's.
        let ignore = self.folder.join(".gitignore");
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&ignore);
        match file.and_then(|mut file| file.write_all(b"*\n")) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(error).context("write", &ignore)
            }
            _ => Ok(()),
        }
    }
}

/// Writes a byte to a file so that its time is now, and says what time that is. A link is not followed: what comes with
/// a checkout must not have us write elsewhere.
pub fn touch(path: &Path) -> io::Result<SystemTime> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let mut file = options.open(path)?;
    file.write_all(b"\n")?;
    file.metadata()?.modified()
}

/// Refuses a link that leads outside of `root`.
fn stay_inside(link: &Path, root: &Path) -> Result<()> {
    let target = fs::canonicalize(link).map_err(|error| unusable(link, "followed", &error))?;
    let home = fs::canonicalize(root).context("inspect", root)?;
    if !target.starts_with(&home) {
        return Err(StorageError::Path {
            path: link.to_path_buf(),
            problem: format!("it is a link that leads outside, to {}", target.display()),
            next_step: "remove the link; a folder will be created in its place",
        });
    }
    if target.is_dir() { Ok(()) } else { Err(not_a_folder(link)) }
}

fn not_a_folder(path: &Path) -> StorageError {
    StorageError::Path {
        path: path.to_path_buf(),
        problem: "it is a file, a folder is needed".into(),
        next_step: "move the file away or name another place",
    }
}

/// A folder that cannot be had, with what to do: unless the disk is full, which says so itself.
fn unusable(path: &Path, what: &str, error: &io::Error) -> StorageError {
    if error.kind() == io::ErrorKind::StorageFull {
        return StorageError::DiskFull { action: "create", path: path.to_path_buf() };
    }
    StorageError::Path {
        path: path.to_path_buf(),
        problem: format!("it cannot be {what}: {error}"),
        next_step: "make the folder above it writable for you, or name another place",
    }
}
