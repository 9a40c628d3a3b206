//! `audit stats`

mod figures;
mod gather;
mod hooks;
mod report;

use std::path::PathBuf;

use clap::Args;
use context_graph_storage::audit_index::Trail;
use context_graph_storage::store::SessionEntry;

use super::asked;
use super::progress::IndexProgress;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::session::{NONE_YET, PlaceArgs, Shelf};
use crate::commands::span::SpanArgs;
use crate::{Environment, table};

/// Count what happened: how often, how long, how often in vain
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
    let mut trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let span = gather::Span { since_ms, until_ms };
    let tally = tally(&mut trail, named.as_deref(), span, args.top)?;
    let outcome = if args.hooks {
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
    };
    trail.save();
    outcome
}

fn tally(
    trail: &mut Trail<'_>,
    named: Option<&[String]>,
    span: gather::Span,
    top: usize,
) -> Result<gather::Tally, Failure> {
    let fits = |entry: &&SessionEntry| {
        named.is_none_or(|named| named.contains(&entry.session_id))
            && span.since_ms.is_none_or(|since| entry.timestamp_ms >= since)
    };
    let mut progress = IndexProgress::new();
    let mut gathering = gather::Gathering::new(span, top);
    for entry in trail.sessions().iter().filter(fits) {
        progress.look(trail, entry);
        gathering.take(&entry.session_id, &trail.table(entry)?);
    }
    Ok(gathering.finish())
}
