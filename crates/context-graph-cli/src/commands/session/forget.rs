//! `session forget`

use clap::Args;
use context_graph_storage::store::{Removed, Why};
use serde_json::{Value, json};

use super::{PlaceArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::summary::counted;
use crate::{Environment, clock, table, terminal};

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Which sessions
    #[arg(required = true)]
    session_ids: Vec<String>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn run(args: &ForgetArgs, environment: &Environment) -> CommandResult {
    let shelf = Shelf::open(&args.place, environment).map_err(Failure::of_what_was_named)?;
    let ids = args.session_ids.iter().map(|id| shelf.find(Some(id))).collect::<Result<Vec<_>, _>>()?;
    if !terminal::agreed(args.yes, &format!("Remove {} for good?", shelf.titled_all(&ids).join(", "))) {
        return Err(Failure::usage("nothing was removed").with_next_step("--yes confirms without asking"));
    }
    let removed = ids.iter().map(|id| shelf.remove(id, Why::Forgotten)).collect::<Result<Vec<_>, _>>()?;
    tell(&removed, args.place.json)
}

/// A session that was removed.
pub(super) struct Gone {
    session_id: String,
    removed: Removed,
    live: bool,
}

impl Shelf {
    pub(super) fn remove(&self, session_id: &str, why: Why) -> Result<Gone, Failure> {
        let (removed, live) = self.sessions.forget(self.store.as_ref(), session_id, clock::now_ms(), why)?;
        Ok(Gone { session_id: session_id.to_owned(), removed, live })
    }
}

/// Reports what was removed.
pub(super) fn tell(gone: &[Gone], as_json: bool) -> CommandResult {
    if as_json {
        let all: Vec<Value> = gone
            .iter()
            .map(|gone| {
                json!({
                    "session_id": gone.session_id,
                    "snapshot": gone.removed.snapshot,
                    "state": gone.removed.state,
                    "records": gone.removed.records,
                    "rows": gone.removed.rows,
                    "live_files": gone.live,
                })
            })
            .collect();
        return table::print_json(&all.into());
    }
    let lines = gone.iter().map(|gone| {
        format!(
            "removed {}: {}, {}{}",
            gone.session_id,
            counted(gone.removed.records, "record", "records"),
            counted(gone.removed.rows, "row made from them", "rows made from them"),
            if gone.live { ", its journal and state file" } else { "" }
        )
    });
    table::print_lines(lines)
}
