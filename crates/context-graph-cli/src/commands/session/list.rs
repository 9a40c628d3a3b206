//! `session list`

use clap::Args;
use context_graph_core::session::Session;
use context_graph_storage::sessions::{IMPORTED, is_imported};
use context_graph_storage::store::SessionQuery;
use serde_json::{Value, json};

use super::{ScopeArgs, Shelf, none_yet, to_json};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::span::SpanArgs;
use crate::summary::Calls;
use crate::{Environment, clock, summary, table, terminal, time};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// At most this many; 0 for all
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,

    #[command(flatten)]
    span: SpanArgs,
}

pub(super) fn run(args: &ListArgs, environment: &Environment) -> CommandResult {
    let as_json = args.scope.place.json;
    let shelves = match args.scope.open(environment) {
        Err(failure) if failure.is_nothing_there() => {
            return if as_json { table::print_json(&json!([])) } else { table::print_lines([none_yet()]) };
        }
        shelves => shelves?,
    };
    let (since_ms, until_ms) = args.span.moments()?;
    let limit = (args.limit > 0).then_some(args.limit);
    // One more than the limit, to know whether there are more.
    let asked = limit.map(|limit| limit.saturating_add(1));
    let mut found = Vec::new();
    for shelf in shelves.iter() {
        // The project's own database has only its own sessions and imported ones, so it needs no filter.
        let query = SessionQuery { since_ms, until_ms, project: shelf.only.clone(), limit: asked };
        let entries = shelf.sessions.list(shelf.store.as_ref(), &query)?;
        found.extend(entries.into_iter().map(|entry| (shelf, entry)));
    }
    found.sort_by(|(_, a), (_, b)| (b.timestamp_ms, &b.session_id).cmp(&(a.timestamp_ms, &a.session_id)));
    let has_more = limit.is_some_and(|limit| found.len() > limit);
    found.truncate(limit.unwrap_or(usize::MAX));
    let (mut sessions, mut damaged) = (Vec::new(), Vec::new());
    for shelf in shelves.iter() {
        let own = found.iter().filter(|(other, _)| std::ptr::eq(*other, shelf));
        let ids: Vec<&str> = own.map(|(_, entry)| entry.session_id.as_str()).collect();
        for (id, calls) in ids.iter().zip(shelf.calls(ids.iter().copied())?) {
            match shelf.view_of_many(id) {
                Ok(view) => sessions.push((in_its_project(shelf, view.session), calls)),
                Err(failure) => damaged.push(Damaged { id: (*id).to_owned(), failure }),
            }
        }
    }
    if shelves.are_several() {
        sessions.sort_by_key(|(session, _)| std::cmp::Reverse(session.snapshot.timestamp_ms));
    }
    if as_json {
        let whole = sessions.iter().map(|(session, calls)| to_json(session, *calls));
        let all: Vec<_> = whole.chain(damaged.iter().map(Damaged::to_json)).collect();
        table::print_json(&all.into())?;
        return report_damaged(damaged);
    }
    if sessions.is_empty() && damaged.is_empty() {
        let is_all =
            since_ms.is_none() && until_ms.is_none() && shelves.iter().all(|shelf| shelf.only.is_none());
        return table::print_lines([if is_all { none_yet() } else { "no sessions that fit".to_owned() }]);
    }
    if !sessions.is_empty() {
        print(&sessions, args.scope.all_projects)?;
    }
    if has_more {
        let (mut count, most) = (0, args.limit.max(MOST_COUNTED));
        for shelf in shelves.iter() {
            let query =
                SessionQuery { since_ms, until_ms, project: shelf.only.clone(), limit: Some(most + 1) };
            count += shelf.sessions.list(shelf.store.as_ref(), &query)?.len();
        }
        let more = if count > most { "more than " } else { "" };
        let [shown, count] = [args.limit, count.min(most)].map(|number| summary::thousands(number as u64));
        let shown = format!("{shown} of {more}{count}, --limit 0 for all");
        table::print_lines([String::new(), shown])?;
    }
    report_damaged(damaged)
}

/// Counting sessions stops here: a million would take two seconds.
const MOST_COUNTED: usize = 5_000;

/// A session that cannot be read.
struct Damaged {
    id: String,
    failure: Failure,
}

impl Damaged {
    fn to_json(&self) -> Value {
        json!({"session_id": self.id, "error_code": self.failure.code(), "message": self.failure.to_string()})
    }
}

/// Says which sessions are damaged, and fails if there are any.
fn report_damaged(damaged: Vec<Damaged>) -> CommandResult {
    for Damaged { id, failure } in &damaged {
        terminal::complain(&format!(
            "session {id} is damaged and not listed above: {failure} (`context-graph maintain --rebuild` restores what its \
             records allow, `context-graph session forget {id}` removes it)"
        ));
    }
    damaged.first().map_or(Ok(()), |first| Err(Failure::already_reported(first.failure.code()).answered()))
}

/// The session with the project that it counts for.
fn in_its_project(shelf: &Shelf, mut session: Session) -> Session {
    session.state.project = shelf.sessions.project_of(&session);
    session
}

fn print(sessions: &[(Session, Calls)], all_projects: bool) -> CommandResult {
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
            // A narrow terminal has no room for the column `ended`, so imported sessions are marked here.
            if is_imported(session) { IMPORTED.to_owned() } else { session.state.lifecycle.to_string() },
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
        "lasted",
        "continuity",
        "state",
        "prompts",
        "project",
        "calls",
        "failed",
        "denied",
        "started",
    ];
    let hidden = if all_projects { "" } else { "project" };
    table::print_dropping(&head, &droppable, hidden, rows)
}
