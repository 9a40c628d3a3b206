//! Upkeep in the background after a session: pruning, archiving, indexing. A hook only starts it, at most
//! once an hour, as a separate process that outlives the hook.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use context_graph_storage::paths;
use context_graph_storage::sessions::UPKEEP_STAMP;

use crate::Environment;
use crate::commands::binary_path;
use crate::process::in_its_own_group;

/// The minimum time between two upkeep runs.
const INTERVAL: Duration = Duration::from_hours(1);

/// Whether upkeep is due. It is also due if the clock was set back.
pub(crate) fn is_due(state_folder: &Path) -> bool {
    let age =
        std::fs::symlink_metadata(state_folder.join(UPKEEP_STAMP)).and_then(|found| found.modified()).ok();
    age.and_then(|at| at.elapsed().ok()).is_none_or(|age| age >= INTERVAL)
}

/// Notes that it was done now.
pub(crate) fn note(state_folder: &Path) {
    let _ = paths::touch(&state_folder.join(UPKEEP_STAMP));
}

/// Starts upkeep after a session has ended, if it is due. Errors are ignored, because they do not concern
/// that session.
pub(crate) fn start_if_due(environment: &Environment, db_path: Option<&Path>) {
    let Ok(folder) = environment.state_place(db_path) else { return };
    if !is_due(&folder) {
        return;
    }
    // Noted first, so that a hundred sessions that end at once start only one upkeep.
    note(&folder);
    let Ok(binary) = binary_path() else { return };
    let mut command = Command::new(binary);
    command.arg("maintain").arg("--project").arg(environment.project_root());
    if let Some(path) = db_path.or(environment.db_path.as_deref()) {
        command.arg("--db-path").arg(path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The client kills the hook's process group, so upkeep needs its own.
    in_its_own_group(&mut command);
    let _ = command.spawn();
}
