//! `session load`: a session's identity as JSON, for programs that keep it elsewhere.

use clap::Args;

use super::{ErrorCode, ScopeArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::{Environment, clock, table};

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Make a session of this id if there is none
    #[arg(long, requires = "session_id", conflicts_with = "all_projects")]
    create: bool,

    /// The session that a created one continues
    #[arg(long, requires = "create", value_name = "ID")]
    previous_session_id: Option<String>,
}

pub(super) fn run(args: &LoadArgs, environment: &Environment) -> CommandResult {
    let snapshot = match &args.session_id {
        Some(id) if args.create => {
            let Shelf { sessions, store, .. } = Shelf::open_or_create(&args.scope.place, environment)?;
            // Closed, because the next call opens the store itself.
            drop(store);
            sessions.load_or_create_identity(id, args.previous_session_id.as_deref(), clock::now_ms())?
        }
        wanted => {
            let found = args.scope.open(environment).and_then(|shelves| shelves.find(wanted.as_deref()));
            let (shelf, id) = found.map_err(Failure::of_what_was_named)?;
            shelf.view(&id)?.session.snapshot
        }
    };
    // Through text, so that an `f32` keeps its short form.
    let value = serde_json::to_string(&snapshot).and_then(|text| serde_json::from_str(&text));
    table::print_json(&value.map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?)
}
