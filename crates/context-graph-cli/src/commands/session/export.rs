//! `session export`: one JSON object per line, first the session and then its records. The first line says
//! how many records follow, so that an incomplete file is noticed.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{ScopeArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::new_file::NewFile;
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::{Environment, table};

/// The format version.
pub(super) const FORMAT: u64 = 1;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Write here instead of to stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
}

fn wanted(args: &ExportArgs, environment: &Environment) -> Result<(Shelf, String), Failure> {
    args.scope.open(environment)?.find(args.session_id.as_deref())
}

pub(super) fn run(args: &ExportArgs, environment: &Environment) -> CommandResult {
    let (shelf, id) = wanted(args, environment).map_err(|failure| {
        let is_named = args.session_id.is_some() || args.output.is_some();
        if is_named { failure.of_what_was_named() } else { failure.of_data() }
    })?;
    let session = shelf.view(&id)?.session;
    let records = shelf.sessions.records(shelf.store.as_ref(), &id)?;
    let count = records.len();
    let head = json!({"context_graph_export": FORMAT, "records": count, "session": session});
    let mut text = format!("{head}\n");
    for (seq, record) in records {
        text.push_str(&json!({"seq": seq, "record": record}).to_string());
        text.push('\n');
    }
    let Some(path) = &args.output else {
        return table::print_json_lines(&text);
    };
    let (new_file, mut file) = NewFile::create(path, args.force)?;
    file.write_all(text.as_bytes()).map_err(|error| {
        Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
            .with_next_step("make sure that there is room on the disk")
    })?;
    new_file.place()?;
    if args.scope.place.json {
        return table::print_json(&json!({"output": path, "session_id": id, "records": count}));
    }
    let told = format!("{}: {}, {}", path.display(), shelf.titled(&id), counted(count, "record", "records"));
    table::print_lines([told])
}
