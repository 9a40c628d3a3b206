//! `session status`

use clap::Args;

use super::{PlaceArgs, Shelf, to_json};
use crate::commands::failure::Outcome;
use crate::{Environment, summary, table, time};

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,
}

pub(super) fn run(args: &StatusArgs, environment: &Environment) -> Outcome {
    let nothing_asked = args.session_id.is_none() && !args.place.json;
    let shelf = match Shelf::open(&args.place, environment) {
        Err(failure) if failure.is_nothing_there() && nothing_asked => {
            return table::print_lines(["this project has no sessions yet"]);
        }
        shelf => shelf?,
    };
    if nothing_asked && shelf.newest()?.is_none() {
        return table::print_lines(["this project has no sessions yet"]);
    }
    let session = shelf.view(&shelf.find(args.session_id.as_deref())?)?.session;
    if args.place.json {
        return table::print_json(&to_json(&session));
    }
    let mut lines = vec![
        format!("session     {}", session.snapshot.session_id),
        format!("state       {}", session.state.lifecycle),
        format!("started     {}", time::local(session.state.started_ms)),
        format!("newest      {}", time::local(session.state.updated_ms)),
    ];
    if let Some(ended) = session.state.ended_ms {
        let reason = session.state.end_reason.as_deref().unwrap_or("");
        lines.push(format!("ended       {} ({reason})", time::local(ended)));
    }
    lines.extend(summary::of(&session).lines().map(str::to_owned));
    table::print_lines(lines)
}
