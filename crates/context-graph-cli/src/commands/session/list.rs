//! `session list`

use clap::Args;
use context_graph_core::session::Session;
use context_graph_storage::store::SessionQuery;
use serde_json::json;

use super::{NONE_YET, PlaceArgs, Shelf, to_json};
use crate::commands::failure::Outcome;
use crate::commands::span::SpanArgs;
use crate::summary::Calls;
use crate::{Environment, clock, summary, table, terminal, time};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// At most this many; 0 for all
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    span: SpanArgs,

    /// With a database that several projects share: of all of them, not only of this one
    #[arg(long)]
    all_projects: bool,
}

pub(super) fn run(args: &ListArgs, environment: &Environment) -> Outcome {
    let shelf = match Shelf::open(&args.place, environment) {
        Err(failure) if failure.is_nothing_there() => {
            return if args.place.json {
                table::print_json(&json!([]))
            } else {
                table::print_lines([NONE_YET])
            };
        }
        shelf => shelf?,
    };
    let shared = environment
        .in_project(args.place.project.as_deref())
        .named_place(args.place.db_path.as_deref())
        .is_some();
    let (since_ms, until_ms) = args.span.moments()?;
    let query = SessionQuery {
        since_ms,
        until_ms,
        // The project's own database has only its own sessions and imported ones, so it needs no filter.
        project: (shared && !args.all_projects).then(|| shelf.sessions.project()),
        limit: (args.limit > 0).then_some(args.limit),
    };
    let mut sessions = Vec::new();
    for entry in shelf.sessions.list(shelf.store.as_ref(), &query)? {
        sessions.push(shelf.view(&entry.session_id)?.session);
    }
    let calls = shelf.calls(sessions.iter().map(|session| session.snapshot.session_id.as_str()))?;
    let sessions: Vec<_> = sessions.into_iter().zip(calls).collect();
    if args.place.json {
        let all: Vec<_> = sessions.iter().map(|(session, calls)| to_json(session, *calls)).collect();
        return table::print_json(&all.into());
    }
    if sessions.is_empty() {
        let is_all = query.since_ms.is_none() && query.until_ms.is_none() && query.project.is_none();
        return table::print_lines([if is_all { NONE_YET } else { "no sessions that fit" }]);
    }
    print(&sessions, args.all_projects)
}

fn print(sessions: &[(Session, Calls)], all_projects: bool) -> Outcome {
    // On a terminal, the beginning is enough to type. Programs that read the list get the whole id.
    let is_short = terminal::width().is_some();
    let rows = sessions.iter().map(|(session, calls)| {
        let (id, started) = (&session.snapshot.session_id, session.state.started_ms);
        vec![
            if is_short { summary::short_id(id) } else { id.clone() },
            if is_short { time::local_short(started, clock::now_ms()) } else { time::local(started) },
            session.title(),
            session.state.project.clone(),
            summary::duration(session.duration_ms()),
            session.state.lifecycle.to_string(),
            summary::ended(session).unwrap_or_default(),
            format!("{:.2} {}", session.snapshot.last_ic, session.classification().level),
            session.state.counters.prompts.to_string(),
            calls.all.to_string(),
            calls.failed.to_string(),
            calls.denied.to_string(),
        ]
    });
    let head = [
        "session",
        "started",
        "title",
        "project",
        "lasted",
        "state",
        "ended",
        "continuity",
        "prompts",
        "calls",
        "failed",
        "denied",
    ];
    let droppable = [
        "ended",
        "continuity",
        "lasted",
        "state",
        "project",
        "prompts",
        "denied",
        "failed",
        "calls",
        "started",
    ];
    let hidden = if all_projects { "" } else { "project" };
    table::print_dropping(&head, &droppable, hidden, rows)
}
