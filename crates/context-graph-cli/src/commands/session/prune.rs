//! `session prune`

use clap::Args;
use context_graph_storage::store::{SessionQuery, Why};
use serde_json::json;

use super::forget::tell;
use super::{PlaceArgs, Shelf};
use crate::commands::failure::{CommandResult, Failure};
use crate::summary::counted;
use crate::{Environment, clock, table, terminal, time};

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Remove sessions without an event since: `30d`, `12h`, `2026-11-01`
    #[arg(long, value_name = "WHEN")]
    older_than: String,

    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl PruneArgs {
    /// Whether it only shows what it would remove.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }
}

pub(super) fn run(args: &PruneArgs, environment: &Environment) -> CommandResult {
    let shelf = Shelf::open(&args.place, environment)?;
    let until_ms = time::parse(&args.older_than, clock::now_ms()).map_err(Failure::usage)?;
    // A store that several projects share keeps the sessions of the others.
    let query =
        SessionQuery { until_ms: Some(until_ms), project: shelf.only.clone(), ..SessionQuery::default() };
    let old = shelf.sessions.list(shelf.store.as_ref(), &query)?;
    // An open session is never old, even if it had no events for a long time.
    let mut ids = Vec::new();
    for entry in old {
        if !shelf.sessions.is_live(&entry.session_id)? {
            ids.push(entry.session_id);
        }
    }
    if ids.is_empty() && !args.place.json {
        return table::print_lines(["no session is that old"]);
    }
    if args.dry_run {
        if args.place.json {
            return table::print_json(&json!({"would_remove": ids}));
        }
        let lines = shelf.titled_all(&ids).into_iter().map(|told| format!("would remove {told}"));
        return table::print_lines(lines.chain([counted(ids.len(), "session", "sessions")]));
    }
    let is_agreed = ids.is_empty()
        || terminal::agreed(
            args.yes,
            &format!("Remove {} for good?", counted(ids.len(), "session", "sessions")),
        );
    if !is_agreed {
        return Err(Failure::usage("nothing was removed")
            .with_next_step("--yes removes without asking, --dry-run only shows"));
    }
    let removed = ids.iter().map(|id| shelf.remove(id, Why::Age)).collect::<Result<Vec<_>, _>>()?;
    tell(&removed, args.place.json)
}
