//! Upkeep after a session, in the background: pruning, archiving, indexing. A hook only starts it, as a process of
//! its own that outlives the hook, and not more than once an hour.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use context_graph_storage::paths;
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
