//! Our state: is it readable, complete and this user's, and is there room for more?

use std::path::Path;

use context_graph_storage::sessions::Sessions;
use context_graph_storage::{StateFolder, StorageError, Store};

use super::Patient;
use super::check_result::{CheckResult, Fix};
use crate::clock;
use crate::summary::counted;

const CHECK: &str = "state";
/// With less free space, hooks may soon fail.
const LITTLE_ROOM: u64 = 200 * 1024 * 1024;
/// With less free space, hooks will fail.
const NO_ROOM: u64 = 8 * 1024 * 1024;

/// What to do about missing data.
const MISSING: &str = "`context-graph audit verify` says more; --acknowledge confirms that you know about it";

/// Checks the state folder and everything in it.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let mut results = room(patient);
    let folder = patient.environment.state_place(None).unwrap_or_else(|_| patient.environment.state_folder());
    if !folder.exists() {
        results.push(nothing(patient, &folder));
        return results;
    }
    let sessions = match patient.environment.sessions(None) {
        Ok(sessions) => sessions,
        Err(error) => {
            results.push(CheckResult::broken(
                CHECK,
                error.to_string(),
                "fix what the message names; until then hooks record nothing",
            ));
            return results;
        }
    };
    results.extend(closed(&folder));
    results.extend(writable(&folder));
    results.extend(ignored(&folder));
    results.extend(quarantine(&sessions));
    results.extend(store(&sessions));
    results
}

/// The folder does not exist: was there never one, or is it gone?
fn nothing(patient: &Patient, folder: &Path) -> CheckResult {
    let user = patient.environment.user_folder();
    if user.and_then(|user| StateFolder::is_known(folder, user)).unwrap_or(false) {
        return CheckResult::broken(
            CHECK,
            format!("{} was removed, with all its data", folder.display()),
            MISSING,
        );
    }
    CheckResult::ok(CHECK, "nothing is remembered yet")
}

/// Compares the state with the heads kept outside the project.
fn check_heads(sessions: &Sessions, store: Option<&Store>) -> Option<CheckResult> {
    let found = match sessions.check_heads(store) {
        Ok((_, found)) => found?.what,
        Err(error) => error.to_string(),
    };
    Some(CheckResult::broken(CHECK, format!("recorded data is missing: {found}"), MISSING))
}

/// Checks that the store opens and that its content is sound.
fn store(sessions: &Sessions) -> Vec<CheckResult> {
    let store = match sessions.store(clock::now_ms()) {
        Ok(Some(store)) => store,
        Ok(None) => {
            let none = CheckResult::ok(CHECK, "no session has been stored yet");
            return [none].into_iter().chain(check_heads(sessions, None)).collect();
        }
        Err(error) => {
            let fix = match &error {
                StorageError::NewerStore { .. } | StorageError::TooNew { .. } => {
                    "update context-graph".to_owned()
                }
                StorageError::Changed { .. } => "run `context-graph maintain --rebuild`".to_owned(),
                StorageError::Busy { .. } => "try again".to_owned(),
                _ => format!(
                    "fix what the message names, or move {} away: a new store is begun, and open sessions keep what is in their journals",
                    sessions.folder().database().display()
                ),
            };
            return vec![CheckResult::broken(CHECK, format!("the store cannot be opened: {error}"), fix)];
        }
    };
    let mut results = vec![check_pages(sessions, &store)];
    results.extend(check_chains(&store));
    results.extend(check_heads(sessions, Some(&store)));
    results
}

/// Checks every page and every index with SQLite.
fn check_pages(sessions: &Sessions, store: &Store) -> CheckResult {
    match store.check() {
        Ok(report) if report.problems == 0 => CheckResult::ok(
            CHECK,
            format!(
                "the store holds {} and {}, all valid",
                counted(report.sessions, "session", "sessions"),
                counted(report.records, "record", "records")
            ),
        ),
        Ok(report) => {
            let (key, what) = report.first_problem.unwrap_or_default();
            let what = format!("the store is damaged: {key}: {what}");
            CheckResult::broken(CHECK, what, put_aside(sessions))
        }
        Err(error) => {
            CheckResult::broken(CHECK, format!("the store cannot be read: {error}"), put_aside(sessions))
        }
    }
}

/// Checks every record against the hash chain.
fn check_chains(store: &Store) -> Vec<CheckResult> {
    let fix = "`context-graph audit verify` says more; compare with a backup of .context-graph";
    let report = match store.verify_chains(&mut |_| {}) {
        Ok(report) => report,
        Err(error) => {
            return vec![CheckResult::broken(CHECK, format!("the hash chain cannot be read: {error}"), fix)];
        }
    };
    let mut results = vec![match report.first_break {
        None => CheckResult::ok(CHECK, "the record is as it was written"),
        Some(found) => {
            let session = found.session_id.map(|id| format!(" (session {id})")).unwrap_or_default();
            CheckResult::broken(CHECK, format!("the record was changed{session}: {}", found.what), fix)
        }
    }];
    let unknown = report.losses.into_iter().filter(|loss| !loss.is_acknowledged);
    results.extend(unknown.map(|loss| {
        CheckResult::warning(
            CHECK,
            format!("session {}: {}", loss.session_id, loss.what),
            "`context-graph audit verify` says more; --acknowledge confirms that you know about it",
        )
    }));
    results
}

fn put_aside(sessions: &Sessions) -> String {
    let database = sessions.folder().database();
    format!(
        "save what can still be read (`context-graph audit export --output FILE`), then move {} away; a new store is begun",
        database.display()
    )
}

fn quarantine(sessions: &Sessions) -> Option<CheckResult> {
    let quarantine = sessions.folder().quarantine();
    let count = std::fs::read_dir(quarantine.folder()).into_iter().flatten().count();
    (count > 0).then(|| {
        let folder = quarantine.folder().display();
        CheckResult::warning(
            CHECK,
            format!("{} put aside in {folder}", counted(count, "damaged piece was", "damaged pieces were")),
            format!("look at them, or remove {folder}: nothing needs it"),
        )
    })
}

fn ignored(folder: &Path) -> Option<CheckResult> {
    let file = folder.join(".gitignore");
    (!file.exists()).then(|| {
        let what = format!("{} is missing: session data could be committed", file.display());
        CheckResult::warning(CHECK, what, format!("write `*` into {}", file.display()))
            .fixed_by(Fix::Ignore(file))
    })
}

#[cfg(unix)]
fn closed(folder: &Path) -> Option<CheckResult> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        let what = format!("{} is open to others (mode {:03o})", folder.display(), mode & 0o777);
        CheckResult::warning(CHECK, what, format!("`chmod 700 {}`", folder.display()))
            .fixed_by(Fix::Close(folder.to_path_buf()))
    })
}

#[cfg(not(unix))]
fn closed(folder: &Path) -> Option<CheckResult> {
    use context_graph_storage::safe_open::Folder;
    let is_open = Folder::open(folder).is_ok_and(|folder| folder.is_open_to_others());
    is_open.then(|| {
        let what = format!("{} is open to others", folder.display());
        CheckResult::warning(CHECK, what, "`context-graph doctor --fix` closes it")
            .fixed_by(Fix::Close(folder.to_path_buf()))
    })
}

/// Whether a file can be created where hooks create theirs.
fn writable(folder: &Path) -> Option<CheckResult> {
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let made = std::fs::File::create_new(&probe);
    let _ = std::fs::remove_file(&probe);
    made.err().map(|error| {
        let what = format!("nothing can be written in {}: {error}", folder.display());
        CheckResult::broken(
            CHECK,
            what,
            format!("make {} yours and writable: `chown`, `chmod 700`", folder.display()),
        )
    })
}

fn room(patient: &Patient) -> Vec<CheckResult> {
    let Some(free) = free_bytes(&patient.root) else { return Vec::new() };
    let what = format!("{} MB are free on the disk of {}", free / (1024 * 1024), patient.root.display());
    let fix = "make room; `context-graph session prune` forgets old sessions";
    vec![match free {
        0..NO_ROOM => CheckResult::broken("disk", what, fix),
        NO_ROOM..LITTLE_ROOM => CheckResult::warning("disk", what, fix),
        _ => CheckResult::ok("disk", what),
    }]
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_path: &Path) -> Option<u64> {
    None
}
