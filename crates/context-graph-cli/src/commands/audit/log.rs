//! `audit log`

use clap::Args;
use context_graph_core::audit::REPETITIONS;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{EntryRow, SessionQuery};
use serde_json::Value;

use super::filter_args::FilterArgs;
use super::follow;
use super::line::Line;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::session::{ScopeArgs, Shelves, none_yet};
use crate::progress::Progress;
use crate::terminal::Colour;
use crate::{Environment, clock, summary, table, terminal};

/// List what happened, newest last: each tool call once, and every other event
///
/// An entry must match every option that is given. Of several values of one option, one must match.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph audit log --tool Bash --outcome failure --since 1d\n  \
    context-graph audit log --path src/main.rs --tool Edit,Write\n  \
    context-graph audit log --verdict deny,ask --all-projects\n  \
    context-graph audit log --text \"connection refused\" --limit 10\n  \
    context-graph audit log --follow")]
pub(crate) struct LogArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    #[command(flatten)]
    asked: FilterArgs,

    /// At most this many, the newest; 0 for all
    #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
    limit: usize,

    /// All of them, with the records that are otherwise left out: batches, which repeat their calls, and the
    /// session's own notes
    #[arg(long, conflicts_with = "limit")]
    all: bool,

    /// Keep running and show new events, until Ctrl-C
    ///
    /// A call is shown when its outcome is known.
    #[arg(long, short)]
    follow: bool,
}

/// Counting matching entries stops here: a million would take a second.
const MOST_COUNTED: usize = 10_000;

pub(super) fn run(args: &LogArgs, environment: &Environment) -> CommandResult {
    let as_json = args.scope.place.json;
    args.asked.check()?;
    let shelves = match args.scope.open(environment) {
        Err(failure) if failure.is_nothing_there() && !args.follow => {
            return if as_json {
                table::print_json(&Value::Array(Vec::new()))
            } else {
                table::print_lines([none_yet()])
            };
        }
        shelves => shelves?,
    };
    let mut asked = args.asked.understand_in(&shelves)?;
    if args.asked.event.is_empty() && !args.all {
        // Programs get the same entries as people.
        for asked in &mut asked {
            asked.without_events.extend(REPETITIONS.map(str::to_owned));
        }
    }
    let limit = if args.limit == 0 || args.all { usize::MAX } else { args.limit };
    if args.follow {
        return follow::run(&shelves, &asked, limit, as_json);
    }
    let (mut rows, mut trails): (Vec<EntryRow>, _) = (Vec::new(), Vec::new());
    let mut progress = Progress::new("reading the log");
    for (shelf, asked) in shelves.iter().zip(&asked) {
        let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
        let mut tell = |done: usize, of: usize| progress.tell(done as u64, of as u64);
        rows.extend(trail.entries_telling(asked, limit, &mut tell)?);
        trails.push(trail);
    }
    progress.done();
    rows.sort_by(|a, b| a.order().cmp(&b.order()));
    rows.drain(..rows.len().saturating_sub(limit));
    let lines: Vec<Line> = rows.into_iter().map(Line).collect();
    if lines.is_empty() && !as_json {
        if is_empty(&shelves)? {
            return table::print_lines([none_yet()]);
        }
        let near = args.asked.meant(&trails)?.map_or_else(String::new, |near| format!(" ({near})"));
        return table::print_lines([format!("no matching entries{near}")]);
    }
    let (mut count, most) = (0, limit.max(MOST_COUNTED));
    if lines.len() >= limit && args.asked.text.is_empty() && !as_json {
        for (trail, asked) in trails.iter().zip(&asked) {
            count += trail.count_entries(asked, most.saturating_add(1))?;
        }
    }
    let shown = u64::try_from(lines.len()).unwrap_or(u64::MAX);
    let rest = (count > shown).then(|| {
        let most = most as u64;
        let more = if count > most { "more than " } else { "" };
        let count = summary::thousands(count.min(most));
        format!("{} of {more}{count}, --all for the rest", summary::thousands(shown))
    });
    print(&shelves, &lines, rest, as_json)
}

fn is_empty(shelves: &Shelves) -> Result<bool, Failure> {
    for shelf in shelves.iter() {
        let any = SessionQuery { limit: Some(1), project: shelf.only.clone(), ..SessionQuery::default() };
        if !shelf.sessions.list(shelf.store.as_ref(), &any)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn print(shelves: &Shelves, lines: &[Line], rest: Option<String>, as_json: bool) -> CommandResult {
    let labels = shelves.labels(lines.iter().map(|line| line.0.session_id.as_str()));
    if as_json {
        let told = lines.iter().map(|line| line.to_json(&labels[&line.0.session_id]));
        return table::print_json(&told.collect::<Vec<Value>>().into());
    }
    let (width, now_ms) = (terminal::width(), clock::now_ms());
    let mut text: String = lines.iter().map(|line| line.to_text(width, now_ms) + "\n").collect();
    // The title of each session is printed once: in every line it would leave no room for the rest.
    let legend = shelves.legend(&labels);
    let legend =
        legend.iter().map(|line| terminal::painted(&terminal::fit(line, width), Colour::Grey) + "\n");
    let legend: String = legend.collect();
    if !legend.is_empty() {
        text.push('\n');
        text.push_str(&legend);
    }
    text.extend(rest.map(|line| format!("\n{line}\n")));
    table::page_from_end(&text)
}
