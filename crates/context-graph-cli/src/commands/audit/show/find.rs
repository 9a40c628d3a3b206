//! Finds the call that the user named.

use std::collections::BTreeSet;

use context_graph_core::audit::{Entry, SessionRef, correlate};
use context_graph_storage::sessions::Trail;

use crate::commands::failure::Failure;
use crate::commands::session::{Shelf, Shelves};
use crate::error_code::ErrorCode;

/// The entries that `wanted` names. There are several if several sessions have a call with this id, such as a
/// fork and its origin.
pub(crate) fn find(shelf: &Shelf, wanted: &str) -> Result<Vec<Entry>, Failure> {
    if let Some((session, seq)) = wanted.rsplit_once(':')
        && let Ok(seq) = seq.parse::<u64>()
    {
        return by_number(shelf, session, seq).map(|entry| vec![entry]);
    }
    if wanted.is_empty() {
        return Err(not_found(wanted));
    }
    let exact = by_id(shelf, wanted)?;
    if exact.is_empty() { by_beginning(shelf, wanted) } else { Ok(exact) }
}

/// The same in several projects. The first project that has such an entry is used.
pub(crate) fn find_in<'s>(shelves: &'s Shelves, wanted: &str) -> Result<(&'s Shelf, Vec<Entry>), Failure> {
    let mut failed = None;
    for shelf in shelves.iter() {
        match find(shelf, wanted) {
            Ok(found) => return Ok((shelf, found)),
            Err(failure) => failed = Some(failure),
        }
    }
    Err(failed.unwrap_or_else(|| not_found(wanted)))
}

pub(crate) fn by_number(shelf: &Shelf, session: &str, seq: u64) -> Result<Entry, Failure> {
    let id = shelf.find(Some(session))?;
    let mut entries = entries(shelf, &id)?;
    let own = entries.iter().position(|entry| entry.seqs().contains(&seq));
    let at = own.or_else(|| entries.iter().position(|entry| entry.first_seq() == seq));
    at.map(|at| entries.swap_remove(at)).ok_or_else(|| {
        Failure::usage(format!("session {id} has no record {seq}"))
            .with_next_step(format!("`context-graph audit log --session {id}` lists what it has"))
    })
}

/// The calls with exactly this id. Stored sessions have an index; running ones are searched.
fn by_id(shelf: &Shelf, id: &str) -> Result<Vec<Entry>, Failure> {
    let mut sessions = BTreeSet::new();
    if let Some(store) = &shelf.store {
        sessions.extend(store.find_calls(id)?.into_iter().map(|record| record.session_id));
    }
    for (session, _) in shelf.sessions.folder().live_sessions()? {
        let view = shelf.sessions.view(shelf.store.as_ref(), &session)?;
        let mut unfolded = view.iter().flat_map(|view| &view.unfolded);
        if unfolded.any(|record| record.tool_use_id.as_deref() == Some(id)) {
            sessions.insert(session);
        }
    }
    in_sessions(shelf, sessions, id)
}

fn by_beginning(shelf: &Shelf, beginning: &str) -> Result<Vec<Entry>, Failure> {
    let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let (ids, sessions) = trail.calls_beginning(beginning)?;
    let [id] = ids.as_slice() else {
        return Err(if ids.is_empty() && shelf.find(Some(beginning)).is_ok() {
            not_found(beginning)
                .with_next_step(format!("it is a session: `context-graph session show {beginning}`"))
        } else if ids.is_empty() {
            not_found(beginning)
        } else {
            Failure::usage(format!("several calls begin with `{beginning}`"))
                .with_next_step("give more characters of the id, or take SESSION:NUMBER from `audit log`")
        });
    };
    in_sessions(shelf, sessions, id)
}

/// The calls with this id in these sessions.
fn in_sessions(
    shelf: &Shelf,
    sessions: impl IntoIterator<Item = String>,
    id: &str,
) -> Result<Vec<Entry>, Failure> {
    let mut found = Vec::new();
    for session in sessions {
        found.extend(entries(shelf, &session)?.into_iter().filter(|entry| call_id(entry) == Some(id)));
    }
    Ok(found)
}

/// All entries of a session.
pub(crate) fn entries(shelf: &Shelf, session_id: &str) -> Result<Vec<Entry>, Failure> {
    let records = shelf.sessions.records(shelf.store.as_ref(), session_id)?;
    let project = shelf.view(session_id)?.session.state.project;
    let origin = SessionRef { session_id, project: &project };
    Ok(correlate(origin, records.iter().map(|(seq, record)| (*seq, record))))
}

fn call_id(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Call(call) => Some(&call.tool_use_id),
        Entry::Event(_) => None,
    }
}

fn not_found(id: &str) -> Failure {
    Failure::new(ErrorCode::CallNotFound, format!("no call begins with `{id}`"))
        .with_next_step(ErrorCode::CallNotFound.hint())
}
