//! Sessions for the pages.

use context_graph_core::session::Session;
use context_graph_events::Outcome;
use context_graph_events::agents::Agent;
use context_graph_storage::sessions::Source;
use context_graph_storage::store::SessionQuery;
use context_graph_web::{EntryLine, Running, Said, SessionLine, SessionsAsked};

use super::entries;
use super::place::{Opened, Place, locked};
use crate::commands::failure::Failure;
use crate::{clock, summary};

/// A session without events for this long is over, whatever its files say: its client was killed.
const RUNS_FOR_MS: i64 = 12 * 3_600_000;
/// How many sessions are checked for a filter without an index.
const LOOKED_AT: usize = 2000;
const CHUNK: usize = 100;

/// A session for a list.
pub(super) fn line(place: &Place, opened: &Opened, id: &str) -> Result<SessionLine, Failure> {
    let view = opened.shelf.view_of_many(id)?;
    let trail = opened.trail();
    let counts = trail.call_counts(id)?;
    let session = &view.session;
    let state = &session.state;
    let is_running = view.source == Source::Live
        && state.ended_ms.is_none()
        && clock::now_ms().saturating_sub(state.updated_ms) < RUNS_FOR_MS;
    Ok(SessionLine {
        id: id.to_owned(),
        title: session.title().into(),
        project: opened.shelf.sessions.project_of(session).as_str().into(),
        branch: branch(place, session),
        model: (!state.model.is_empty()).then(|| state.model.as_str().into()),
        state: state.lifecycle.to_string(),
        is_running,
        ended: summary::ended(session).map(Said::from),
        started_ms: state.started_ms,
        updated_ms: state.updated_ms,
        duration_ms: session.duration_ms(),
        prompts: state.counters.prompts,
        calls: counts.calls,
        failures: counts.of(Outcome::Failure),
        denied: counts.of(Outcome::Denied),
        files: trail.files_of(id)?,
        continuity: session.snapshot.last_ic,
        level: session.classification().level,
        previous: session.snapshot.previous_session_id.clone(),
        records: view.stored_records + view.unfolded.len() as u64,
    })
}

/// The git branch, from the first lines of the client's transcript.
fn branch(place: &Place, session: &Session) -> Option<Said> {
    let path = &session.state.transcript_path;
    if path.is_empty() {
        return None;
    }
    let mut branches = locked(&place.branches);
    if branches.len() > LOOKED_AT {
        branches.clear();
    }
    let known =
        branches.entry(path.clone()).or_insert_with(|| crate::transcript_files::branch(path.as_ref()));
    known.as_deref().map(Said::from)
}

/// Matching sessions, newest first. One more than a page has shows that there are more.
pub(super) fn listed(
    place: &Place,
    opened: &Opened,
    asked: &SessionsAsked,
) -> Result<Vec<SessionLine>, Failure> {
    let mut found = Vec::new();
    let mut until_ms = asked.before.as_ref().map(|(at_ms, _)| *at_ms);
    let mut last: Option<(i64, String)> = asked.before.clone();
    let mut looked_at = 0;
    while looked_at < LOOKED_AT {
        let query = SessionQuery {
            since_ms: asked.since_ms,
            until_ms,
            project: opened.shelf.only.clone(),
            limit: Some(CHUNK.max(asked.limit + 1)),
        };
        let chunk = opened.shelf.sessions.list(opened.shelf.store.as_ref(), &query)?;
        let is_end = chunk.len() < query.limit.unwrap_or(0);
        let before = last.clone();
        let fresh: Vec<_> = chunk
            .into_iter()
            .filter(|entry| {
                let key = (entry.timestamp_ms, entry.session_id.clone());
                before.as_ref().is_none_or(|before| key < *before)
            })
            .collect();
        if fresh.is_empty() {
            break;
        }
        for entry in fresh {
            looked_at += 1;
            last = Some((entry.timestamp_ms, entry.session_id.clone()));
            until_ms = Some(entry.timestamp_ms);
            // A damaged session is left out; the others are still shown.
            let Ok(line) = line(place, opened, &entry.session_id) else { continue };
            if fits(&line, opened, asked)? {
                found.push(line);
            }
            if found.len() > asked.limit {
                return Ok(found);
            }
        }
        if is_end {
            break;
        }
    }
    Ok(found)
}

fn fits(line: &SessionLine, opened: &Opened, asked: &SessionsAsked) -> Result<bool, Failure> {
    let holds = |text: Option<&Said>, wanted: &str| {
        text.is_some_and(|text| text.raw().to_lowercase().contains(&wanted.to_lowercase()))
    };
    let state = match asked.state.as_str() {
        "running" => line.is_running,
        "ended" => !line.is_running,
        "low" => line.continuity < context_graph_core::gwt::ic_monitor::IC_WARNING_THRESHOLD,
        "denied" => line.denied > 0,
        _ => true,
    };
    let project = asked.project.is_empty() || line.project.raw() == asked.project;
    let branch = asked.branch.is_empty() || holds(line.branch.as_ref(), &asked.branch);
    if !(state && project && branch) {
        return Ok(false);
    }
    let is_of = |client: Agent| client.name() == asked.agent.trim().to_lowercase();
    if asked.agent.is_empty()
        || is_of(Agent::of_session(&line.id))
        || holds(line.model.as_ref(), &asked.agent)
    {
        return Ok(true);
    }
    entries::has_agent(opened, &line.id, &asked.agent)
}

/// The running sessions, newest first.
pub(super) fn running(place: &Place, opened: &Opened) -> Result<Vec<Running>, Failure> {
    let mut running = Vec::new();
    for (id, _) in opened.shelf.sessions.folder().live_sessions()? {
        let Some(line) = line(place, opened, &id).ok().filter(|line| line.is_running) else { continue };
        if opened.shelf.only.as_deref().is_some_and(|only| line.project.raw() != only) {
            continue;
        }
        let newest = entries::newest_of(opened, &id, false)?;
        let looping = opened.shelf.view(&id)?.session.state.looping;
        running.push(Running {
            last: entries::newest_of(opened, &id, true)?,
            waits_for: newest.as_ref().and_then(waits_for),
            looping: looping.map(|found| (Said::from(found.what.as_str()), found.times)),
            line,
        });
    }
    running.sort_by_key(|running| std::cmp::Reverse(running.line.updated_ms));
    Ok(running)
}

/// What a session waits for, judged by its newest entry.
fn waits_for(newest: &EntryLine) -> Option<Said> {
    let words = match newest.name.raw() {
        "Stop" => "for the next request".to_owned(),
        "PermissionRequest" => format!("for permission: {}", newest.subject.raw()),
        "Notification" => newest.subject.raw().to_owned(),
        _ if newest.is_call
            && newest.verdict.as_deref() == Some("ask")
            && newest.outcome == Some(Outcome::Unanswered) =>
        {
            format!("for permission: {} {}", newest.name.raw(), newest.subject.raw())
        }
        _ => return None,
    };
    Some(words.into())
}
