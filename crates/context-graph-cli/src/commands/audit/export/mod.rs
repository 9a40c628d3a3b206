//! `audit export`: calls and events for other programs. Sessions are read and written one by one, so a store
//! of any size needs only the memory of its largest session.

mod csv;
mod jsonl;
mod otlp;
mod sink;
mod sqlite;
mod walk;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

pub(super) use self::csv::Row;
use self::sink::{Sink, SinkError};
use self::walk::{Totals, Walk};
use super::filter_args::FilterArgs;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::new_file::NewFile;
use crate::commands::session::ScopeArgs;
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::{Environment, table};

/// Write calls and events for other programs: JSON lines, CSV, OpenTelemetry or SQLite
///
/// The records are exported as they are stored, so without secrets. An entry must match every filter option that is
/// given. Of several values of one option, one must match.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  context-graph audit export --since 7d | jq -r 'select(.outcome == \"failure\") | .error'\n  \
                  context-graph audit export --format csv --output calls.csv --tool Bash\n  \
                  context-graph audit export --format sqlite --output audit.db && sqlite3 audit.db 'SELECT tool, count(*) FROM v_calls GROUP BY tool'\n  \
                  context-graph audit export --format otlp-json --output traces.jsonl --session 3f2a")]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// What to write
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    /// Write here instead of to stdout; the file appears when it is complete, and only you can read it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file if there is one
    #[arg(long, requires = "output")]
    force: bool,

    #[command(flatten)]
    asked: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// One JSON object per line for each call and each other event
    #[default]
    Jsonl,
    /// A table for spreadsheets, with a heading
    Csv,
    /// OpenTelemetry traces: one OTLP request per line, one trace per session
    OtlpJson,
    /// A database with tables and views; needs --output
    Sqlite,
}

impl Format {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

pub(super) fn run(args: &ExportArgs, environment: &Environment) -> CommandResult {
    let shelves = args.scope.open(environment).map_err(|failure| {
        if args.output.is_some() { failure.of_what_was_named() } else { failure.of_data() }
    })?;
    let mut walk = Walk::new(&shelves, args.asked.understand_in(&shelves)?)?;
    match &args.output {
        None => to_stdout(args.format, &mut walk),
        Some(path) => {
            let totals = to_file(args, path, &mut walk)?;
            tell(args, path, &totals)?;
            totals.damage().map_or(Ok(()), |failure| Err(failure.answered()))
        }
    }
}

fn to_stdout(format: Format, walk: &mut Walk<'_>) -> CommandResult {
    let mut out = BufWriter::new(io::stdout().lock());
    let Some(mut sink) = text_sink(format, &mut out) else {
        return Err(Failure::usage("a database cannot be written to stdout")
            .with_next_step("--output FILE says where to"));
    };
    match walk.write_to(&mut *sink, true) {
        Ok(totals) => totals.damage().map_or(Ok(()), |failure| Err(failure.answered())),
        Err(ExportEnd::Sink(SinkError::Io(error))) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(stop) => Err(stop.into_failure("stdout").answered()),
    }
}

fn to_file(args: &ExportArgs, path: &Path, walk: &mut Walk<'_>) -> Result<Totals, Failure> {
    let (new_file, file) = NewFile::create(path, args.force)?;
    let mut out = BufWriter::new(file);
    let written = match text_sink(args.format, &mut out) {
        Some(mut sink) => walk.write_to(&mut *sink, false),
        None => sqlite::Database::create(new_file.part())
            .map_err(ExportEnd::from)
            .and_then(|mut database| walk.write_to(&mut database, false)),
    };
    let totals = written.map_err(|stop| stop.into_failure(&path.display().to_string()))?;
    new_file.place()?;
    Ok(totals)
}

/// The writer of a text format; `None` for a database.
fn text_sink<'o>(format: Format, out: &'o mut dyn Write) -> Option<Box<dyn Sink + 'o>> {
    match format {
        Format::Jsonl => Some(Box::new(jsonl::JsonLines::new(out))),
        Format::Csv => Some(Box::new(csv::Csv::new(out))),
        Format::OtlpJson => Some(Box::new(otlp::Otlp::new(out))),
        Format::Sqlite => None,
    }
}

/// Reports what was written.
fn tell(args: &ExportArgs, path: &Path, totals: &Totals) -> CommandResult {
    if args.scope.place.json {
        return table::print_json(&json!({
            "success": totals.damaged() == 0,
            "output": path.to_string_lossy(),
            "format": args.format.name(),
            "sessions": totals.sessions,
            "calls": totals.calls,
            "events": totals.events,
            "damaged_sessions": totals.damaged(),
        }));
    }
    table::print_lines([format!(
        "{}: {}, {}, {}",
        path.display(),
        counted(totals.sessions, "session", "sessions"),
        counted(totals.calls, "call", "calls"),
        counted(totals.events, "other event", "other events")
    )])
}

/// Why an export stopped.
#[derive(Debug)]
enum ExportEnd {
    /// The store could not be read.
    Source(Failure),
    /// The export could not be written.
    Sink(SinkError),
}

impl From<SinkError> for ExportEnd {
    fn from(error: SinkError) -> Self {
        Self::Sink(error)
    }
}

impl ExportEnd {
    fn into_failure(self, target: &str) -> Failure {
        match self {
            Self::Source(failure) => failure,
            Self::Sink(error) => Failure::new(ErrorCode::Storage, format!("cannot write {target}: {error}"))
                .with_next_step("make sure that there is room and that you can write there"),
        }
    }
}
