//! `session save`: makes the output of `load`, changed or not, the session's identity.

use std::path::PathBuf;

use clap::Args;
use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_events::decode;
use serde_json::{Value, json};

use super::{ErrorCode, PlaceArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::read_file_or_stdin;
use crate::{Environment, clock, table, terminal};

#[derive(Debug, Args)]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The snapshot as JSON, as `session load` prints it; `-` for stdin
    #[arg(default_value = "-")]
    file: PathBuf,
}

pub(super) fn run(args: &SaveArgs, environment: &Environment) -> CommandResult {
    let snapshot = read(&read_file_or_stdin(&args.file)?)?;
    let Shelf { sessions, store, .. } = Shelf::open_or_create(&args.place, environment)?;
    drop(store);
    sessions.save_identity(&snapshot, clock::now_ms())?;
    let id = snapshot.session_id;
    if args.place.json {
        return table::print_json(&json!({"success": true, "session_id": id}));
    }
    table::print_lines([format!("saved {}", terminal::plain(&id, false))])
}

/// Reads a snapshot. We add no defaults: every field must exist, be known and be valid.
fn read(bytes: &[u8]) -> Result<SessionIdentitySnapshot, Failure> {
    let next = "`context-graph session load` prints one that fits";
    let parse = |problem: String| Failure::new(ErrorCode::Parse, problem).with_next_step(next);
    let object = decode::object(bytes).map_err(|error| parse(error.to_string()))?;
    let names: Vec<String> = object.keys().cloned().collect();
    let snapshot: SessionIdentitySnapshot =
        serde_json::from_value(Value::Object(object)).map_err(|error| parse(error.to_string()))?;
    let known = serde_json::to_value(&snapshot).unwrap_or_default();
    if let Some(unknown) = names.iter().find(|name| known.get(name.as_str()).is_none()) {
        return Err(parse(format!("unknown field `{}`", terminal::plain(unknown, false))));
    }
    let invalid = |problem: String| Failure::new(ErrorCode::Validation, problem).with_next_step(next);
    if snapshot.timestamp_ms <= 0 {
        return Err(invalid(format!("timestamp_ms must be positive, found {}", snapshot.timestamp_ms)));
    }
    match snapshot.first_invalid_field() {
        Some(field) => Err(invalid(format!("{field} is out of its range"))),
        None => Ok(snapshot),
    }
}
