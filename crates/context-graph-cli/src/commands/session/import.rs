//! `session import`

use std::path::PathBuf;

use clap::Args;
use context_graph_core::session::{EventRecord, Session};
use context_graph_storage::sessions::{encode_record, encode_session};
use context_graph_storage::store::{About, FoldBatch, LogRecord, Why};
use serde::Deserialize;
use serde_json::json;

use super::export::FORMAT;
use super::{PlaceArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::read_file_or_stdin;
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::{Environment, clock, table, terminal};

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// What `export` wrote; `-` for stdin
    file: PathBuf,

    /// Replace a session of the same id
    #[arg(long)]
    replace: bool,
}

#[derive(Deserialize)]
struct Head {
    context_graph_export: u64,
    /// How many records follow. Without it, an incomplete file cannot be noticed.
    records: Option<usize>,
    session: Session,
}

#[derive(Deserialize)]
struct Body {
    record: EventRecord,
}

pub(super) fn run(args: &ImportArgs, environment: &Environment) -> CommandResult {
    let text = String::from_utf8(read_file_or_stdin(&args.file)?)
        .map_err(|_| Failure::new(ErrorCode::Parse, format!("{} is not UTF-8", args.file.display())))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head: Head = match lines.next() {
        Some((number, line)) => parse(number, line)?,
        None => return Err(Failure::new(ErrorCode::Parse, "the file is empty")),
    };
    if head.context_graph_export > FORMAT {
        let found = head.context_graph_export;
        return Err(Failure::new(
            ErrorCode::Parse,
            format!("the file has format {found}, this program reads {FORMAT}"),
        )
        .with_next_step("update context-graph"));
    }
    let records = lines
        .map(|(number, line)| {
            let Body { record } = parse(number, line)?;
            let bytes = encode_record(&record)?;
            Ok(LogRecord { tool_use_id: record.tool_use_id, bytes, source: None })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    match head.records {
        Some(told) if told != records.len() => {
            let there = records.len();
            return Err(Failure::new(
                ErrorCode::Parse,
                format!("the file is truncated: {there} of {told} records; nothing was imported"),
            )
            .with_next_step("copy or export it again"));
        }
        Some(_) => {}
        None => terminal::complain(
            "this export does not say how many records it has: truncation cannot be detected",
        ),
    }

    let shelf = Shelf::open_or_create(&args.place, environment)?;
    let mut session = head.session;
    // It belongs to the project that it is imported into. Its state says that only if projects share the store;
    // elsewhere it stays as it was exported.
    let project = shelf.sessions.project();
    if shelf.is_shared {
        session.state.project.clone_from(&project);
    }
    let id = session.snapshot.session_id.clone();
    let state = encode_session(&session)?;
    if shelf.sessions.view(shelf.store.as_ref(), &id)?.is_some() {
        if !args.replace {
            return Err(Failure::new(ErrorCode::Validation, format!("there is a session `{id}` already"))
                .with_next_step("--replace replaces it"));
        }
        shelf.remove(&id, Why::Forgotten)?;
    }
    let count = records.len();
    let store = match shelf.store {
        Some(store) => store,
        None => shelf.sessions.folder().open_store(clock::now_ms())?,
    };
    store.commit_fold(&FoldBatch {
        state: Some(state),
        records,
        project: Some(project),
        duration_ms: session.lasted_ms(),
        about: Some(About::of(&session)),
        ..FoldBatch::of(session.snapshot.clone())
    })?;
    if args.place.json {
        return table::print_json(&json!({"session_id": id, "records": count}));
    }
    table::print_lines([format!("imported {id}: {}", counted(count, "record", "records"))])
}

fn parse<T: for<'de> Deserialize<'de>>(number: usize, line: &str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|error| {
        let what = if error.is_eof() {
            format!("the file is truncated: line {} is incomplete; nothing was imported", number + 1)
        } else {
            format!("line {}: {error}", number + 1)
        };
        Failure::new(ErrorCode::Parse, what).with_next_step("import a complete file of `session export`")
    })
}
