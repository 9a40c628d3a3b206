//! `audit log`

use clap::Args;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::SessionQuery;
use serde_json::Value;

use super::asked::AskedArgs;
use super::follow;
use super::line::Line;
use crate::commands::failure::Outcome;
use crate::commands::session::{NONE_YET, PlaceArgs, Shelf};
use crate::{Environment, clock, summary, table, terminal};

/// List what happened, newest last: each tool call once, and every other event
///
/// Filters of one kind are alternatives, those of different kinds must all fit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph audit log --tool Bash --outcome failure --since 1d\n  \
    context-graph audit log --path src/main.rs --tool Edit,Write\n  \
    context-graph audit log --verdict deny,ask --json\n  \
    context-graph audit log --text \"connection refused\" --limit 10\n  \
    context-graph audit log --follow")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    asked: AskedArgs,

    /// At most this many, the newest; 0 for all
    #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
    limit: usize,

    /// All of them, with the records of batches that are otherwise left out
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    /// Go on with what happens next, until Ctrl-C
    ///
    /// A call is shown once it is known what became of it.
    #[arg(long, short)]
    follow: bool,
}

/// Where the count of matching entries ends: a million would take a second.
const MOST_COUNTED: usize = 10_000;

pub(super) fn run(args: &LogArgs, environment: &Environment) -> Outcome {
    let shelf = match Shelf::open(&args.place, environment) {
        Err(failure) if failure.is_nothing_there() && !args.follow => {
            return if args.place.json { print(&[], None, true) } else { table::print_lines([NONE_YET]) };
        }
        shelf => shelf?,
    };
    let mut asked = args.asked.understand(&shelf)?;
    if asked.events.is_empty() && !args.all && !args.place.json {
        // A batch only repeats what its calls already show.
        asked.without_events.push("PostToolBatch".to_owned());
    }
    let limit = if args.limit == 0 || args.all { usize::MAX } else { args.limit };
    if args.follow {
        return follow::run(&shelf, &asked, limit, args.place.json);
    }
    let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let lines: Vec<Line> = trail.entries(&asked, limit)?.into_iter().map(Line).collect();
    if lines.is_empty() && !args.place.json {
        let any = SessionQuery { limit: Some(1), ..SessionQuery::default() };
        let is_empty = shelf.sessions.list(shelf.store.as_ref(), &any)?.is_empty();
        return table::print_lines([if is_empty { NONE_YET } else { "no matching entries" }]);
    }
    let is_cut = lines.len() >= limit && asked.needles.is_empty() && !args.place.json;
    let most = limit.max(MOST_COUNTED);
    let count = if is_cut { trail.count_entries(&asked, most.saturating_add(1))? } else { 0 };
    let shown = u64::try_from(lines.len()).unwrap_or(u64::MAX);
    let rest = (count > shown).then(|| {
        let most = most as u64;
        let more = if count > most { "more than " } else { "" };
        let count = summary::thousands(count.min(most));
        format!("{} of {more}{count}, --all for the rest", summary::thousands(shown))
    });
    print(&lines, rest, args.place.json)
}

fn print(lines: &[Line], rest: Option<String>, as_json: bool) -> Outcome {
    if as_json {
        return table::print_json(&lines.iter().map(Line::to_json).collect::<Vec<Value>>().into());
    }
    let (width, now_ms) = (terminal::width(), clock::now_ms());
    let lines = lines.iter().map(|line| line.to_text(width, now_ms));
    table::page(&lines.chain(rest).map(|line| line + "\n").collect::<String>())
}
