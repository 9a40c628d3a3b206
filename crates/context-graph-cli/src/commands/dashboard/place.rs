//! One project's store, kept open while nothing changes.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use context_graph_storage::sessions::{Trail, Unfolded};
use context_graph_storage::store::{Break, DATABASE};

use super::curves::Kept;
use crate::Environment;
use crate::commands::failure::Failure;
use crate::commands::session::{PlaceArgs, Shelf};

/// A project and its store.
pub(super) struct Place {
    pub(super) environment: Environment,
    args: PlaceArgs,
    /// Whether it shows all projects that share the store.
    pub(super) is_of_all: bool,
    open: Mutex<Option<Opened>>,
    /// A second handle for queries that are too slow for a page.
    apart: Mutex<Option<(u64, Shelf)>>,
    pub(super) curves: Mutex<HashMap<String, Kept>>,
    /// Where the chains of sessions break, with the number of records at the time of the check.
    pub(super) chains: Mutex<HashMap<String, (u64, Option<Break>)>>,
    pub(super) branches: Mutex<HashMap<String, Option<String>>>,
    /// Sessions whose curves are being computed.
    pub(super) drawing: Mutex<HashSet<String>>,
}

/// An open store.
pub(super) struct Opened {
    pulse: u64,
    pub(super) shelf: Shelf,
    unfolded: Unfolded,
}

impl Opened {
    pub(super) fn trail(&self) -> Trail<'_> {
        Trail::over(self.shelf.store.as_ref(), &self.unfolded).of_project(self.shelf.only.as_deref())
    }
}

/// Locks a mutex, even if a thread panicked while holding it: its content can be computed again.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    pub(super) fn new(environment: &Environment, project: Option<&Path>, db_path: Option<&Path>) -> Self {
        Self {
            environment: environment.in_project(project),
            args: PlaceArgs {
                project: project.map(Path::to_path_buf),
                db_path: db_path.map(Path::to_path_buf),
                json: false,
            },
            is_of_all: false,
            open: Mutex::new(None),
            apart: Mutex::new(None),
            curves: Mutex::default(),
            chains: Mutex::default(),
            branches: Mutex::default(),
            drawing: Mutex::default(),
        }
    }

    /// The store that the environment names, with all projects in it.
    pub(super) fn shared_by_all(environment: &Environment) -> Self {
        Self { is_of_all: true, ..Self::new(environment, None, None) }
    }

    pub(super) fn root(&self) -> String {
        self.environment.project_root().to_string_lossy().into_owned()
    }

    /// The projects whose sessions it shows.
    pub(super) fn projects(&self) -> Result<Vec<String>, Failure> {
        if !self.is_of_all {
            return Ok(vec![self.root()]);
        }
        Ok(self.ask(|opened| Ok(opened.trail().projects()?))?.unwrap_or_default())
    }

    /// The environment of the project that a session counts for: its rules are not those of other projects.
    pub(super) fn environment_of(&self, opened: &Opened, id: &str) -> Result<Environment, Failure> {
        if !self.is_of_all {
            return Ok(self.environment.clone());
        }
        let project = opened.shelf.sessions.project_of(&opened.shelf.view(id)?.session);
        Ok(self.environment.in_project(Some(Path::new(&project))))
    }

    /// Opens the store again for something slow; the pages keep theirs.
    pub(super) fn open_apart(&self) -> Result<Shelf, Failure> {
        let opened = Shelf::open(&self.args, &self.environment)?;
        Ok(if self.is_of_all { Shelf { only: None, ..opened } } else { opened })
    }

    /// Queries the store; `None` if there is none yet.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Opened) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let mut open = locked(&self.open);
        let pulse = open.as_ref().map_or(0, |opened| pulse_of(&opened.shelf));
        if open.as_ref().is_none_or(|opened| opened.pulse != pulse) {
            // Keeps what is already known about running sessions.
            let mut unfolded = open.take().map(|opened| opened.unfolded).unwrap_or_default();
            let found = match self.open_apart() {
                Err(failure) if failure.is_nothing_there() => return Ok(None),
                found => found?,
            };
            let pulse = pulse_of(&found);
            unfolded.refresh(&found.sessions, found.store.as_ref())?;
            *open = Some(Opened { pulse, shelf: found, unfolded });
        }
        open.as_ref().map(question).transpose()
    }

    /// Queries the store through a separate handle, without rows for what is only in journals; `None` if there is no
    /// store yet.
    pub(super) fn ask_apart<T>(
        &self,
        question: impl FnOnce(&Shelf) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let mut open = locked(&self.apart);
        if open.as_ref().is_none_or(|(pulse, shelf)| *pulse != pulse_of(shelf)) {
            *open = None;
            let found = match self.open_apart() {
                Err(failure) if failure.is_nothing_there() => return Ok(None),
                found => found?,
            };
            *open = Some((pulse_of(&found), found));
        }
        open.as_ref().map(|(_, shelf)| question(shelf)).transpose()
    }

    /// A number that changes whenever something is written.
    pub(super) fn pulse(&self) -> u64 {
        let open = locked(&self.open);
        // If there is no store yet, its creation is the change.
        let is_there =
            || self.environment.state_place(self.args.db_path.as_deref()).is_ok_and(|place| place.exists());
        open.as_ref().map_or_else(|| u64::from(is_there()), |opened| pulse_of(&opened.shelf))
    }
}

/// A hash of the store's files: names, sizes and times.
fn pulse_of(shelf: &Shelf) -> u64 {
    let folder = shelf.sessions.folder();
    let mut hasher = DefaultHasher::new();
    look(&folder.database().join(DATABASE), &mut hasher);
    let mut live: Vec<PathBuf> = std::fs::read_dir(folder.live_folder())
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    live.sort_unstable();
    for path in live.iter().filter(|path| path.extension().is_some_and(|ending| ending == "journal")) {
        path.hash(&mut hasher);
        look(path, &mut hasher);
    }
    hasher.finish()
}

fn look(path: &Path, hasher: &mut DefaultHasher) {
    if let Ok(found) = path.symlink_metadata() {
        found.len().hash(hasher);
        let modified = found.modified().ok().and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        modified.map(|since| since.as_nanos()).hash(hasher);
    }
}
