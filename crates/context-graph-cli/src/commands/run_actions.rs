//! `run-actions`: runs the actions of an event. A hook starts it and does not wait.

use std::io::Read as _;
use std::path::PathBuf;

use clap::Args;
use context_graph_events::Event;
use context_graph_events::decode::MAX_INPUT_BYTES;

use super::failure::{CommandResult, Failure};
use super::{DB_PATH_HELP, project_folder};
use crate::error_code::ErrorCode;
use crate::rules;
use crate::trust::ProjectFiles;
use crate::{Environment, actions, clock};

/// Run the actions that an event starts: its JSON on stdin
///
/// Only the policy files decide which commands are run, whoever sends the event.
#[derive(Debug, Args)]
pub(crate) struct RunActionsArgs {
    /// The project, instead of the one around the current folder
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    db_path: Option<PathBuf>,
}

pub(crate) fn run(args: &RunActionsArgs, environment: &Environment) -> CommandResult {
    let environment = environment.in_project(args.project.as_deref());
    let mut payload = Vec::new();
    let stdin = std::io::stdin().lock().take(MAX_INPUT_BYTES as u64 + 1).read_to_end(&mut payload);
    stdin.map_err(|error| Failure::new(ErrorCode::Parse, format!("cannot read stdin: {error}")))?;
    let event =
        Event::from_slice(&payload).map_err(|error| Failure::new(ErrorCode::Parse, error.to_string()))?;
    let configured = rules::actions_of(&environment, &ProjectFiles::of(&environment), &event);
    let failures = actions::run(&configured, &event, &payload, environment.project_root());
    // The user may have removed everything in the meantime; do not create it again.
    if failures.is_empty() || !environment.state_place(args.db_path.as_deref())?.exists() {
        return Ok(());
    }
    let sessions = environment.sessions(args.db_path.as_deref())?;
    for failure in failures {
        let failed = failure.to_event(event.session_id());
        sessions.append(event.session_id(), failed, clock::now_ms(), None, || 0)?;
    }
    Ok(())
}
