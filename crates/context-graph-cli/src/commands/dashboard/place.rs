//! One project's record, kept open while nothing changes.

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

/// A project, by where its record is.
pub(super) struct Place {
    pub(super) environment: Environment,
    args: PlaceArgs,
    open: Mutex<Option<Opened>>,
    /// The record once more, for what takes longer than a page may wait.
    apart: Mutex<Option<(u64, Shelf)>>,
    pub(super) curves: Mutex<HashMap<String, Kept>>,
    /// Where chains of sessions break, by the number of records they had when that was looked at.
    pub(super) chains: Mutex<HashMap<String, (u64, Option<Break>)>>,
    pub(super) branches: Mutex<HashMap<String, Option<String>>>,
    /// Sessions whose curves are being drawn.
    pub(super) drawing: Mutex<HashSet<String>>,
}

/// A record that is open.
pub(super) struct Opened {
    pulse: u64,
    pub(super) shelf: Shelf,
    unfolded: Unfolded,
}

impl Opened {
    pub(super) fn trail(&self) -> Trail<'_> {
        Trail::over(self.shelf.store.as_ref(), &self.unfolded)
    }
}

/// A lock, also one that a thread has left behind by a panic: what it holds can be made again.
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
            open: Mutex::new(None),
            apart: Mutex::new(None),
            curves: Mutex::default(),
            chains: Mutex::default(),
            branches: Mutex::default(),
            drawing: Mutex::default(),
        }
    }

    /// The project's root.
    pub(super) fn root(&self) -> String {
        self.environment.project_root().to_string_lossy().into_owned()
    }

    /// Opens the record for something long; the pages go on with theirs.
    pub(super) fn open_apart(&self) -> Result<Shelf, Failure> {
        Shelf::open(&self.args, &self.environment)
    }

    /// Asks the record something; none where there is no record yet.
    pub(super) fn ask<T>(
        &self,
        question: impl FnOnce(&Opened) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let mut open = locked(&self.open);
        let pulse = open.as_ref().map_or(0, |opened| pulse_of(&opened.shelf));
        if open.as_ref().is_none_or(|opened| opened.pulse != pulse) {
            // What was told of running sessions is gone on with.
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

    /// The same with a record of its own, and without what is only in journals told in rows.
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

    /// A number that is another one whenever something was written.
    pub(super) fn pulse(&self) -> u64 {
        let open = locked(&self.open);
        // Where nothing is on record yet, it is new that something is.
        let is_there =
            || self.environment.state_place(self.args.db_path.as_deref()).is_ok_and(|place| place.exists());
        open.as_ref().map_or_else(|| u64::from(is_there()), |opened| pulse_of(&opened.shelf))
    }
}

/// What the files of a record look like from outside.
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
