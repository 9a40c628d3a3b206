//! `audit trace`

mod draw;
mod lanes;

use clap::Args;
use context_graph_core::audit::{Entry, REPETITIONS};
use serde_json::json;

use super::show::find::entries;
use crate::Environment;
use crate::commands::failure::CommandResult;
use crate::commands::session::{ScopeArgs, look_up};
use crate::{table, terminal, time};

/// The width without a terminal.
const WIDTH: usize = 120;

/// Draw a session as a timeline, calls that ran at the same time side by side
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph audit trace\n  \
    context-graph audit trace 7a604c52 --calls")]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Only tool calls
    #[arg(long)]
    calls: bool,

    /// How many columns to draw in [default: those of the terminal]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
}

pub(super) fn run(args: &TraceArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let mut entries = entries(&shelf, &id)?;
    if args.calls {
        entries.retain(|entry| matches!(entry, Entry::Call(_)));
    }
    if args.scope.place.json {
        let title = shelf.view(&id)?.session.title();
        return table::print_json(&json!({"session_id": id, "title": title, "entries": entries}));
    }
    entries.retain(
        |entry| !matches!(entry, Entry::Event(happening) if REPETITIONS.contains(&happening.event.as_str())),
    );
    let width = args.width.or_else(terminal::width).unwrap_or(WIDTH);
    let mut lines = vec![format!("session {}", shelf.titled(&id))];
    lines.extend(entries.first().map(|entry| format!("from {}", time::local(entry.at_ms()))));
    lines.push(String::new());
    lines.extend(draw::draw(&entries, width));
    table::page(&table::lines(lines))
}
