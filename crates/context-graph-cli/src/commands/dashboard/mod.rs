//! `context-graph dashboard`: the recorded sessions in a browser.
//!
//! The pages come from `context-graph-web`. This module answers their queries from the local store and from
//! the journals of running sessions. Hooks use nothing of it.

mod curves;
mod entries;
mod guard;
mod health;
mod local;
mod open;
mod place;
mod sessions;
mod shapes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use context_graph_web::{Loopback, Site, Trouble};
use serde_json::json;

use super::failure::{CommandResult, Failure};
use super::{DB_PATH_HELP, project_folder};
use crate::error_code::ErrorCode;
use crate::interrupt::RemovedOnInterrupt;
use crate::{Environment, clock, table, terminal};
use local::LocalRecords;

/// The dashboard ends after this long without a request.
const IDLE: Duration = Duration::from_hours(1);

/// Look at sessions, calls and denials in the browser
///
/// It listens on this machine's loopback address only, and only the printed address gives access. It only reads, and
/// ends with Ctrl-C or after an hour without a visitor.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph dashboard                 opens the browser\n  \
    context-graph dashboard --no-open       prints the address\n  \
    context-graph dashboard --all-projects  of all projects with records")]
pub(crate) struct DashboardArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder(), conflicts_with = "all_projects")]
    project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP, conflicts_with = "all_projects")]
    db_path: Option<PathBuf>,

    /// All projects of yours that have sessions, not only this one
    #[arg(long, alias = "all")]
    all_projects: bool,

    /// The port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the address and do not open a browser
    #[arg(long)]
    no_open: bool,

    /// Print the address in JSON, on one line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &DashboardArgs, environment: &Environment) -> CommandResult {
    let records = if args.all_projects {
        LocalRecords::of_all(environment)?
    } else {
        LocalRecords::of_project(environment, args.project.as_deref(), args.db_path.as_deref())
    };
    let site = Site::new(Arc::new(records), clock::now_ms);
    let loopback = Loopback::bind(args.port).map_err(|error| {
        Failure::new(
            ErrorCode::Storage,
            format!("cannot listen on port {} of the loopback: {error}", args.port),
        )
        .with_next_step("without --port a free one is taken")
    })?;
    let address = loopback.address();
    if args.json {
        table::print_json_lines(&format!("{}\n", json!({"address": address})))?;
    } else {
        table::print_lines([address.as_str(), "Ctrl-C ends it; so does an hour without a visitor."])?;
    }
    let opened = if args.no_open { None } else { open::in_browser(&address, environment) };
    let _removed = opened.as_deref().map(RemovedOnInterrupt::new);
    let served = loopback.run(&site, IDLE);
    if let Some(file) = opened {
        let _ = std::fs::remove_file(file);
    }
    served.map_err(|error| Failure::new(ErrorCode::Internal, format!("the dashboard ended: {error}")))?;
    terminal::note("no request for an hour: the dashboard ends\n");
    Ok(())
}

/// A session's page as a single file.
pub(crate) fn report(
    environment: &Environment,
    project: Option<&Path>,
    db_path: Option<&Path>,
    session: &str,
) -> Result<String, Failure> {
    let records = LocalRecords::of_project(environment, project, db_path);
    context_graph_web::report(&records, session, clock::now_ms()).map_err(|trouble| match trouble {
        Trouble::NotThere(what) => Failure::new(ErrorCode::SessionNotFound, what),
        Trouble::Asked(what) => Failure::usage(what),
        Trouble::Failed(what) => Failure::new(ErrorCode::Storage, what),
    })
}
