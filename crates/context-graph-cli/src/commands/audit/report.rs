//! `audit report`

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::Environment;
use crate::commands::dashboard;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::new_file::NewFile;
use crate::commands::session::ScopeArgs;
use crate::error_code::ErrorCode;
use crate::table;

/// Write a session as one page, to attach to a pull request
///
/// The page is like the one in the dashboard: the time axis, continuity with its drops, and the story. The file loads
/// nothing and runs nothing. Secrets were removed when the session was recorded, but read the page before you send it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  context-graph audit report 7a604c52 --html session.html")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    html: PathBuf,

    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &ReportArgs, environment: &Environment) -> CommandResult {
    let found = args.scope.open(environment).and_then(|shelves| shelves.find(args.session_id.as_deref()));
    // The user asked for a file, so it is a failure if none is written.
    let (shelf, id) = found.map_err(Failure::of_what_was_named)?;
    let place = &args.scope.place;
    let project = if shelf.is_shared { place.project.clone() } else { Some(shelf.sessions.project().into()) };
    let page = dashboard::report(environment, project.as_deref(), place.db_path.as_deref(), &id)?;
    let (new_file, mut file) = NewFile::create(&args.html, args.force)?;
    file.write_all(page.as_bytes()).map_err(|error| {
        Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", args.html.display()))
            .with_next_step("make sure that there is room on the disk")
    })?;
    new_file.place()?;
    if args.scope.place.json {
        return table::print_json(&json!({"output": args.html, "session_id": id, "bytes": page.len()}));
    }
    let told =
        format!("{}: session {}, {} KB", args.html.display(), shelf.titled(&id), page.len().div_ceil(1024));
    table::print_lines([told])
}
