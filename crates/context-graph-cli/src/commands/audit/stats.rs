//! `audit stats`

pub(crate) mod figures;
pub(crate) mod gather;
mod hooks;
mod report;

use std::path::PathBuf;

use clap::Args;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Counting, Span};

use super::asked;
use crate::commands::failure::Outcome;
use crate::commands::session::{NONE_YET, PlaceArgs, Shelf};
use crate::commands::span::SpanArgs;
use crate::{Environment, table};

/// Count tool calls: how many, how long, failure rate
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph audit stats --since 7d\n  \
    context-graph audit stats --hooks\n  \
    context-graph audit stats --session 7a604c52 --json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Of these sessions, by id or its beginning
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    session: Vec<String>,

    #[command(flatten)]
    span: SpanArgs,

    /// What hooks cost: ours by event, and every hook of yours by what the client wrote into its transcripts
    #[arg(long)]
    hooks: bool,

    /// Transcripts to read for --hooks [default: those beside the newest session's]
    #[arg(long, value_name = "PATH", requires = "hooks")]
    transcripts: Vec<PathBuf>,

    /// How many of the slowest, the most edited and the like
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
}

pub(super) fn run(args: &StatsArgs, environment: &Environment) -> Outcome {
    let shelf = match Shelf::open(&args.place, environment) {
        Err(failure) if failure.is_nothing_there() && !args.place.json => {
            return table::print_lines([NONE_YET]);
        }
        shelf => shelf?,
    };
    let (since_ms, until_ms) = args.span.moments()?;
    let named = asked::sessions(&args.session, &shelf)?;
    let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let span = Span { since_ms, until_ms };
    let counting = Counting { span, sessions: named.as_deref(), passed_over: &[], top: args.top };
    let tally = gather::tally(&trail, &counting)?;
    if args.hooks {
        let files = hooks::transcripts(&shelf, &args.transcripts, named.as_deref())?;
        let costs = hooks::read(&files, span)?;
        if args.place.json {
            table::print_json(&report::hooks_json(&tally, &costs))
        } else {
            report::print_hooks(&tally, &costs, files.len())
        }
    } else if args.place.json {
        table::print_json(&report::json(&tally))
    } else {
        report::print(&tally)
    }
}
