//! `audit sql`

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use clap::{Args, ValueEnum};
use context_graph_storage::store::{Cell, SqlPart};
use serde_json::{Value, json};

use super::export::Row;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::session::{ScopeArgs, Shelves};
use crate::error_code::ErrorCode;
use crate::suggest::nearest;
use crate::visible_json::visible;
use crate::{Environment, table};

/// Query the store with SQL, read-only
///
/// The views `v_sessions`, `v_calls` and `v_decisions` do not change between versions. What an open session did since its
/// last turn is not stored yet. With `--all-projects` each project is queried separately, and its rows begin with its
/// folder.
#[derive(Debug, Args)]
#[command(after_help = "Views and their columns; times are milliseconds since 1970, UTC:\n  \
    v_sessions: session_id, project, cwd, model, lifecycle, started_ms, updated_ms, ended_ms, end_reason, duration_ms, \
    end_status, previous_id, transcript_path, prompts, calls, failures, continuity, records\n  \
    v_calls: session_id, project, seq, at_ms, ended_ms, tool_use_id, tool, mcp_server, agent_id, agent_type, prompt_id, \
    permission_mode, subject, verdict, outcome, evidence, duration_ms, between_ms, took_ms, permission_asked, deferrals, error, path\n  \
    v_decisions: session_id, project, seq, at_ms, event, verdict, rule, reason, counted, tool, tool_use_id, subject, outcome\n\n\
    Examples:\n  \
    context-graph audit sql \"SELECT tool, count(*) FROM v_calls GROUP BY tool ORDER BY 2 DESC\"\n  \
    context-graph audit sql --format csv \"SELECT * FROM v_calls WHERE outcome = 'failure'\" > failures.csv\n  \
    context-graph audit sql \"SELECT rule, count(*) FROM v_decisions WHERE verdict = 'deny' GROUP BY rule\" --json")]
pub(crate) struct SqlArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// One SELECT
    query: String,

    /// How to answer; `--json` is short for `--format json`
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    /// Give up after this many seconds
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// Columns under a heading
    #[default]
    Table,
    /// For spreadsheets, with a heading
    Csv,
    /// One object a row
    Json,
}

/// A table is held in memory, because columns are as wide as their widest cell. A longer answer is refused.
const MAX_TABLE_BYTES: usize = 16 << 20;

pub(super) fn run(args: &SqlArgs, environment: &Environment) -> CommandResult {
    let mut shelves = args.scope.open(environment).map_err(Failure::of_data)?;
    if shelves.iter().all(|shelf| shelf.store.is_none()) {
        return Err(nothing_stored(&shelves)?.of_data());
    }
    let at_most = Duration::from_secs(args.timeout);
    let format = if args.scope.place.json { Format::Json } else { args.format };
    if format != Format::Table {
        let mut out = BufWriter::new(io::stdout().lock());
        let mut columns = Vec::new();
        let mut written = Ok(());
        let mut rows = 0_u64;
        let asked = ask(&mut shelves, &args.query, at_most, &mut |answer| {
            written = match answer {
                SqlPart::Columns(names) => {
                    columns = if format == Format::Json { keys(names) } else { names };
                    if format == Format::Csv { csv(&columns, &mut out) } else { Ok(()) }
                }
                SqlPart::Row(cells) => {
                    rows += 1;
                    if format == Format::Csv {
                        csv(&cells.iter().map(text).collect::<Vec<_>>(), &mut out)
                    } else {
                        object(rows, &columns, cells, &mut out)
                    }
                }
            };
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if let Err(error) = asked {
            // If a part of the answer was already written, no other answer may follow.
            let _ = out.flush();
            return Err(if rows > 0 { error.answered() } else { error });
        }
        let end = match format {
            Format::Json if rows == 0 => &b"[]\n"[..],
            Format::Json => b"\n]\n",
            _ => b"",
        };
        return match written.and_then(|()| out.write_all(end)).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::usage(format!("the answer could not be written: {error}")).answered())
            }
            _ => Ok(()),
        };
    }
    let (mut heading, mut rows, mut letters) = (Vec::new(), Vec::new(), 0);
    ask(&mut shelves, &args.query, at_most, &mut |answer| {
        match answer {
            SqlPart::Columns(names) => heading = names,
            SqlPart::Row(cells) => {
                let row: Vec<String> = cells.iter().map(text).collect();
                letters += row.iter().map(|cell| cell.len() + 1).sum::<usize>();
                rows.push(row);
            }
        }
        if letters <= MAX_TABLE_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if letters > MAX_TABLE_BYTES {
        return Err(Failure::usage("the answer is too long for a table")
            .with_next_step("--format csv writes it row by row; or ask for less"));
    }
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    table::print(&heading, rows)
}

/// Why there is no store: there is no session, or none has finished a turn.
fn nothing_stored(shelves: &Shelves) -> Result<Failure, Failure> {
    for shelf in shelves.iter() {
        if !shelf.sessions.folder().live_sessions()?.is_empty() {
            return Ok(Failure::new(ErrorCode::SessionNotFound, "nothing is stored yet").with_next_step(
                "a session is stored when its turn ends; `context-graph audit log` shows it before",
            ));
        }
    }
    Ok(Failure::no_sessions())
}

/// Queries each project. With several, each row begins with its project's folder; the heading is the first
/// project's.
fn ask(
    shelves: &mut Shelves,
    query: &str,
    at_most: Duration,
    told: &mut dyn FnMut(SqlPart) -> ControlFlow<()>,
) -> Result<(), Failure> {
    let are_several = shelves.iter().len() > 1;
    let (mut is_first, mut is_over) = (true, false);
    for shelf in &mut shelves.0 {
        let project = shelf.sessions.project();
        let Some(store) = shelf.store.as_mut().filter(|_| !is_over) else { continue };
        let asked = store.ask(query, at_most, &mut |answer| {
            let answer = match answer {
                SqlPart::Columns(_) if !std::mem::replace(&mut is_first, false) => {
                    return ControlFlow::Continue(());
                }
                SqlPart::Columns(names) if are_several => {
                    SqlPart::Columns([vec!["project".to_owned()], names].concat())
                }
                SqlPart::Row(mut cells) if are_several => {
                    cells.insert(0, Cell::Text(project.clone()));
                    SqlPart::Row(cells)
                }
                answer => answer,
            };
            let next = told(answer);
            is_over = next.is_break();
            next
        });
        asked.map_err(|error| with_names(&error.to_string(), error.into()))?;
    }
    Ok(())
}

/// The views that do not change between versions.
const VIEWS: [&str; 3] = ["v_calls", "v_sessions", "v_decisions"];

/// Adds the existing names to the failure if a name does not exist.
fn with_names(said: &str, failure: Failure) -> Failure {
    let wrong = |what: &str| {
        said.split_once(what).map(|(_, name)| name.split_whitespace().next().unwrap_or_default())
    };
    let listed = "`context-graph audit sql --help` lists their columns";
    if let Some(table) = wrong("no such table: ") {
        let perhaps = nearest(table, VIEWS).or_else(|| nearest(&format!("v_{table}"), VIEWS));
        let perhaps = perhaps.map(|view| format!("perhaps `{view}`? ")).unwrap_or_default();
        return failure.with_next_step(format!("{perhaps}The views are {}; {listed}", VIEWS.join(", ")));
    }
    if wrong("no such column: ").is_some() {
        return failure.with_next_step(format!("the views are {}; {listed}", VIEWS.join(", ")));
    }
    failure
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(length) => format!("({length} bytes)"),
    }
}

fn csv(cells: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut row = Row::default();
    for cell in cells {
        // In quotes, a spreadsheet would not treat it as a number.
        match cell.parse::<f64>() {
            Ok(_) => row.plain(cell),
            Err(_) => row.text(cell),
        }
    }
    row.write_to(out)
}

/// The keys of an object with these columns. A repeated name gets a number, because the keys of an object must be
/// unique.
fn keys(names: Vec<String>) -> Vec<String> {
    let own: HashSet<String> = names.iter().cloned().collect();
    let mut keys = HashSet::new();
    let key = |name: String| {
        if keys.insert(name.clone()) {
            return name;
        }
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let free = numbered.filter(|key| !own.contains(key)).find(|key| keys.insert(key.clone()));
        free.unwrap_or(name)
    };
    names.into_iter().map(key).collect()
}

/// Writes a row as an object whose keys are in the order of the columns.
fn object(number: u64, keys: &[String], cells: Vec<Cell>, out: &mut dyn Write) -> io::Result<()> {
    let value = |cell| match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => number.into(),
        Cell::Real(number) => number.into(),
        Cell::Text(text) => text.into(),
        Cell::Bytes(_) => text(&cell).into(),
    };
    let fields = keys.iter().zip(cells).map(|(key, cell)| format!("{}:{}", json!(key), value(cell)));
    let row = fields.collect::<Vec<_>>().join(",");
    let separator = if number > 1 { ",\n  " } else { "[\n  " };
    write!(out, "{separator}{}", visible(&format!("{{{row}}}")))
}
