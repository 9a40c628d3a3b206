//! Upkeep after a session, in the background: pruning, archiving, indexing. A hook only starts it, as a process of
//! its own that outlives the hook, and not more than once an hour.

use std::fs::{File, Metadata, TryLockError};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use context_graph_storage::paths;
use context_graph_storage::safe_open::Folder;
use context_graph_storage::sessions::UPKEEP_STAMP;

use crate::Environment;
use crate::commands::binary_path;
use crate::process::in_its_own_group;

/// How long an upkeep lasts.
const LASTS: Duration = Duration::from_hours(1);

/// Whether it is time. A clock that was set back makes it time.
pub(crate) fn is_due(state_folder: &Path) -> bool {
    let age =
        std::fs::symlink_metadata(state_folder.join(UPKEEP_STAMP)).and_then(|found| found.modified()).ok();
    age.and_then(|at| at.elapsed().ok()).is_none_or(|age| age >= LASTS)
}

/// How long a removal waits for an upkeep that is at work.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state folder, held: an upkeep and a removal of the folder wait for each other, so that neither works on what the
/// other has taken away. Held until dropped.
#[derive(Debug)]
pub(crate) struct Held {
    _lock: File,
}

impl Held {
    /// Locks the folder, waiting for others; `None` if it is gone by then.
    pub(crate) fn for_upkeep(state_folder: &Path) -> io::Result<Option<Self>> {
        let folder = match open(state_folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        // Where folders cannot be locked, the work goes on without.
        while folder.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
        // The process that held it may have removed it.
        Ok(is_same(&folder, state_folder).then_some(Self { _lock: folder }))
    }

    /// Locks the folder before it is removed; `None` if upkeep takes too long.
    pub(crate) fn for_removal(state_folder: &Path) -> io::Result<Option<Self>> {
        let folder = open(state_folder)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match folder.try_lock() {
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(Self { _lock: folder })),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
            }
        }
    }
}

/// The folder as something that can be locked. What a checkout has put in its place is refused, not waited for.
fn open(state_folder: &Path) -> io::Result<File> {
    Folder::open(state_folder).map(Folder::into_file)
}

#[cfg(unix)]
fn is_same(folder: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |found: io::Result<Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    let held = id(folder.metadata());
    held.is_some() && held == id(std::fs::metadata(path))
}

#[cfg(not(unix))]
fn is_same(_folder: &File, path: &Path) -> bool {
    path.is_dir()
}

/// Notes that it was done.
pub(crate) fn note(state_folder: &Path) {
    let _ = paths::touch(&state_folder.join(UPKEEP_STAMP));
}

/// Starts it after a session has ended, if it is time. Whatever goes wrong is of no concern to that session.
pub(crate) fn start_if_due(environment: &Environment, db_path: Option<&Path>) {
    let Ok(folder) = environment.state_place(db_path) else { return };
    if !is_due(&folder) {
        return;
    }
    // First, so that a hundred sessions that end at once start one upkeep.
    note(&folder);
    let Ok(binary) = binary_path() else { return };
    let mut command = Command::new(binary);
    command.arg("maintain").arg("--project").arg(environment.project_root());
    if let Some(path) = db_path.or(environment.db_path.as_deref()) {
        command.arg("--db-path").arg(path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own: the client ends the hook's.
    in_its_own_group(&mut command);
    let _ = command.spawn();
}
