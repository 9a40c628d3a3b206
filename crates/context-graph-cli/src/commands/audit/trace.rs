//! `audit trace`

mod draw;
mod lanes;

use clap::Args;
use serde_json::json;

use super::show::find::entries;
use crate::Environment;
use crate::commands::failure::Outcome;
use crate::commands::session::{PlaceArgs, look_up};
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
    place: PlaceArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Only tool calls
    #[arg(long)]
    calls: bool,

    /// How many columns to draw in [default: those of the terminal]
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
}

pub(super) fn run(args: &TraceArgs, environment: &Environment) -> Outcome {
    let Some((shelf, id)) = look_up(&args.place, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let mut entries = entries(&shelf, &id)?;
    if args.calls {
        entries.retain(|entry| matches!(entry, context_graph_core::audit::Entry::Call(_)));
    }
    if args.place.json {
        return table::print_json(&json!({"session_id": id, "entries": entries}));
    }
    let width = args.width.or_else(terminal::width).unwrap_or(WIDTH);
    let mut lines = vec![format!("session {}", shelf.told(&id))];
    lines.extend(entries.first().map(|entry| format!("from {}", time::local(entry.at_ms()))));
    lines.push(String::new());
    lines.extend(draw::draw(&entries, width));
    table::print_lines(lines)
}
