//! `audit stats`

pub(crate) mod figures;
pub(crate) mod gather;
mod hooks;
mod report;

use std::path::PathBuf;

use clap::Args;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Counting, Span};

use super::filter_args::sessions_in;
use crate::commands::failure::CommandResult;
use crate::commands::session::{ScopeArgs, none_yet};
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
    scope: ScopeArgs,

    /// Of these sessions, by id or its beginning
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    session: Vec<String>,

    #[command(flatten)]
    span: SpanArgs,

    /// What hooks cost: ours by event, and your other hooks as measured in Claude Code's transcripts
    #[arg(long)]
    hooks: bool,

    /// Transcripts to read for --hooks [default: those beside the newest session's]
    #[arg(long, value_name = "PATH", requires = "hooks")]
    transcripts: Vec<PathBuf>,

    /// How many of the slowest, the most edited and the like
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
}

pub(super) fn run(args: &StatsArgs, environment: &Environment) -> CommandResult {
    let as_json = args.scope.place.json;
    let shelves = match args.scope.open(environment) {
        Err(failure) if failure.is_nothing_there() && !as_json => {
            return table::print_lines([none_yet()]);
        }
        shelves => shelves?,
    };
    let (since_ms, until_ms) = args.span.moments()?;
    let named = sessions_in(&args.session, &shelves)?;
    let span = Span { since_ms, until_ms };
    let (mut trails, mut counting) = (Vec::new(), Vec::new());
    for (shelf, named) in shelves.iter().zip(&named) {
        trails.push(Trail::open(&shelf.sessions, shelf.store.as_ref())?);
        counting.push(Counting {
            span,
            sessions: named.as_deref(),
            project: shelf.only.as_deref().filter(|_| named.is_none()),
            passed_over: &[],
            top: args.top,
        });
    }
    let tally = gather::tally(&trails, &counting)?;
    if args.hooks {
        let mut files = Vec::new();
        for (shelf, named) in shelves.iter().zip(&named) {
            match hooks::transcripts(shelf, &args.transcripts, named.as_deref()) {
                // One of several projects has no sessions.
                Err(failure) if failure.is_nothing_there() && shelves.iter().len() > 1 => {}
                found => files.extend(found?),
            }
        }
        // Named transcripts are the same for every project.
        files.sort();
        files.dedup();
        let costs = hooks::read(&files, span)?;
        if as_json {
            table::print_json(&report::hooks_json(&tally, &costs))
        } else {
            report::print_hooks(&tally, &costs, files.len())
        }
    } else {
        let labels = shelves.labels(tally.slowest.iter().map(|slow| slow.session_id.as_str()));
        if as_json {
            table::print_json(&report::json(&tally, &labels))
        } else {
            report::print(&tally, &labels)
        }
    }
}
