//! `audit show`

pub(crate) mod find;
mod page;

use clap::Args;
use context_graph_core::audit::Entry;
use serde_json::json;

use crate::commands::failure::{CommandResult, Failure};
use crate::commands::session::{ScopeArgs, Shelf};
use crate::{Environment, table};

/// Show a tool call from the request to the result
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph audit show toolu_01FhQ\n  \
    context-graph audit show 7a604c52:42 --json")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// The call's `tool_use_id` or the beginning of it, or `SESSION:NUMBER` as `audit log` prints it
    id: String,

    /// Show long texts whole
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &ShowArgs, environment: &Environment) -> CommandResult {
    let shelves = args.scope.open(environment).map_err(Failure::of_what_was_named)?;
    let (shelf, entries) = find::find_in(&shelves, &args.id)?;
    if args.scope.place.json {
        return match entries.as_slice() {
            [entry] => table::print_json(&json!(entry)),
            entries => table::print_json(&json!(entries)),
        };
    }
    table::page_lines(lines_of(shelf, &entries, args.full))
}

/// The entries with this id or handle, for people.
pub(crate) fn pages(shelf: &Shelf, id: &str, full: bool) -> Result<Vec<String>, Failure> {
    Ok(lines_of(shelf, &find::find(shelf, id)?, full))
}

fn lines_of(shelf: &Shelf, entries: &[Entry], full: bool) -> Vec<String> {
    let of_session = |id: &str| shelf.titled(id);
    let pages: Vec<Vec<String>> = entries.iter().map(|entry| page::of(entry, &of_session, full)).collect();
    pages.join(&String::new())
}
