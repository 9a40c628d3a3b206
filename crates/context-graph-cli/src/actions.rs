//! Commands that events start. After the hook has answered, it passes the event to a separate process that
//! outlives it. So nothing that an action does can change or delay the answer.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use context_graph_core::session::ActionFailure;
use context_graph_events::Event;
use context_graph_policy::config::Action;
use context_graph_storage::safe_open::Folder;
use context_graph_storage::sessions::Sessions;

use crate::Environment;
use crate::commands::binary_path;
use crate::process::{self, End, ProgramOutput, in_its_own_group};

/// The subcommand under which this binary runs actions.
pub(crate) const VERB: &str = "run-actions";
/// How many characters of a failed action's output are kept.
const KEPT: usize = 400;

/// The event as actions see it: shortened, without secrets, in a file without a name.
pub(crate) fn handed_on(sessions: &Sessions, event: &Event, at_ms: i64) -> Option<File> {
    let record = sessions.to_record(event.session_id(), event.clone(), at_ms).ok()?;
    nameless(sessions.folder().path(), record.payload.as_bytes()).ok()
}

/// A file that is already deleted and disappears when it is closed. With a pipe, the hook would have to wait
/// for a reader.
fn nameless(folder: &Path, content: &[u8]) -> io::Result<File> {
    let folder = Folder::open(folder)?;
    let (name, mut file) = folder.temporary()?;
    let written = file.write_all(content).and_then(|()| file.rewind());
    folder.remove(name)?;
    written.map(|()| file)
}

/// Starts the actions for an event that has been answered. The hook does not wait for them.
pub(crate) fn start(environment: &Environment, db_path: Option<&Path>, event: File) {
    let Ok(binary) = binary_path() else { return };
    let mut command = Command::new(binary);
    command.arg(VERB).arg("--project").arg(environment.project_root());
    if let Some(path) = db_path.or(environment.db_path.as_deref()) {
        command.arg("--db-path").arg(path);
    }
    command.stdin(event).stdout(Stdio::null()).stderr(Stdio::null());
    // The client kills the hook's process group, so actions need their own.
    in_its_own_group(&mut command);
    let _ = command.spawn();
}

/// Runs the actions in parallel, each with the event on stdin, and returns those that failed. When an action
/// ends, all processes that it started are killed.
pub(crate) fn run(actions: &[Action], event: &Event, payload: &[u8], root: &Path) -> Vec<ActionFailure> {
    let run_one = |action: &Action| {
        let mut command = process::shell(&action.command);
        command.current_dir(root);
        let reply = process::ask(command, payload, Duration::from_millis(action.timeout_ms));
        failure(action, event, &reply)
    };
    let run_one = &run_one;
    thread::scope(|scope| {
        let started: Vec<_> = actions.iter().map(|action| scope.spawn(move || run_one(action))).collect();
        started.into_iter().filter_map(|running| running.join().ok().flatten()).collect()
    })
}

fn failure(action: &Action, event: &Event, reply: &ProgramOutput) -> Option<ActionFailure> {
    let how = match &reply.end {
        End::Exited(Some(0)) => return None,
        End::Exited(Some(code)) => format!("failed with exit code {code}"),
        End::Exited(None) => "was killed".to_owned(),
        End::TimedOut => format!("did not end within {} ms", action.timeout_ms),
        End::NotStarted(error) => format!("could not be started: {error}"),
    };
    let said = if reply.stderr.trim().is_empty() { &reply.stdout } else { &reply.stderr };
    let skipped = said.trim().chars().count().saturating_sub(KEPT);
    let output = said.trim().chars().skip(skipped).collect();
    Some(ActionFailure { name: action.name.clone(), event: event.name().to_owned(), how, output })
}
