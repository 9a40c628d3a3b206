//! `context-graph browse`: search and read sessions and calls on the terminal.
//!
//! `state.rs` has the state and what keys do, `draw.rs` draws it, `screen.rs` handles the terminal. The store is
//! opened for each query and closed again, so that hooks never wait for a reader.

mod draw;
mod items;
mod screen;
mod state;
#[cfg(test)]
mod tests;

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;

use super::failure::{CommandResult, Failure};
use super::session::{PlaceArgs, ScopeArgs, none_yet};
use super::{DB_PATH_HELP, project_folder};
use crate::{Environment, table};
use items::ProjectRecords;
use state::Browser;

/// Search through sessions and calls on the terminal, with a preview
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Keys:\n  /       filter: letters in the order typed, with gaps allowed; Enter keeps it, Esc drops it\n  \
                  Enter   the whole text, in your pager\n  \
                  y       copy the id\n  \
                  Tab     switch between both kinds, sessions only, calls only\n  \
                  ?       all keys\n\nExample:\n  context-graph browse"
)]
pub(crate) struct BrowseArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    db_path: Option<PathBuf>,

    /// All projects of yours that have sessions, not only this one
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
}

pub(crate) fn run(args: &BrowseArgs, environment: &Environment) -> CommandResult {
    let can_move = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if !can_move || !Environment::moves_the_cursor() {
        return Err(Failure::usage("browsing needs a terminal")
            .with_next_step("`context-graph session list` and `context-graph audit log` print the same"));
    }
    let place =
        PlaceArgs { project: args.project.clone(), db_path: args.db_path.clone(), ..PlaceArgs::default() };
    let records = ProjectRecords::new(ScopeArgs { place, all_projects: args.all_projects }, environment);
    let items = match records.items() {
        Err(failure) if failure.is_nothing_there() => Vec::new(),
        items => items?,
    };
    if items.is_empty() {
        return table::print_lines([none_yet()]);
    }
    screen::run(Browser::new(items), &records)
}
