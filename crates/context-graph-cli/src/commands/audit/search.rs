//! The newest entries that fit, read no further back than needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use context_graph_storage::StorageError;
use context_graph_storage::audit_index::{Filter, Row, Trail};
use context_graph_storage::store::SessionEntry;

use super::asked::Asked;
use super::line::Line;
use super::progress::IndexProgress;
use crate::commands::session::Shelf;

/// An entry in the order of time.
#[derive(PartialEq, Eq)]
struct Found(Line);

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.order().cmp(&other.0.order())
    }
}

/// The newest `limit` entries that fit, oldest first.
pub(super) fn newest(trail: &mut Trail<'_>, asked: &Asked, limit: usize) -> Result<Vec<Line>, StorageError> {
    let sessions = trail.sessions();
    let mut progress = IndexProgress::new();
    let mut found = BinaryHeap::new();
    for entry in sessions.iter().filter(|entry| may_fit(entry, asked)) {
        // No entry of a session is younger than the session, and those that follow are older still.
        let oldest = found.peek().map(|Reverse(Found(line)): &Reverse<Found>| line.at_ms);
        if found.len() >= limit && oldest.is_some_and(|oldest| oldest > entry.timestamp_ms) {
            break;
        }
        progress.look(trail, entry);
        for line in in_session(trail, entry, asked, limit)? {
            found.push(Reverse(Found(line)));
            if found.len() > limit {
                found.pop();
            }
        }
    }
    Ok(found.into_sorted_vec().into_iter().rev().map(|Reverse(Found(line))| line).collect())
}

/// When entries of an event were made since then, and what they were about, oldest first. At most `limit`, the newest.
pub(crate) fn entries_of(
    shelf: &Shelf,
    event: &str,
    since_ms: i64,
    limit: usize,
) -> Result<Vec<(i64, String)>, StorageError> {
    let filter = Filter { events: vec![event.to_owned()], since_ms: Some(since_ms), ..Filter::default() };
    let asked = Asked { sessions: None, filter, needles: Vec::new() };
    let mut trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let lines = newest(&mut trail, &asked, limit)?;
    Ok(lines.into_iter().map(|line| (line.at_ms, line.subject)).collect())
}

/// Whether something in a session may fit, as far as can be said without its table.
fn may_fit(entry: &SessionEntry, asked: &Asked) -> bool {
    asked.sessions.as_ref().is_none_or(|named| named.contains(&entry.session_id))
        && asked.filter.since_ms.is_none_or(|since| entry.timestamp_ms >= since)
}

/// The newest `limit` entries of a session that fit, newest first.
pub(super) fn in_session(
    trail: &mut Trail<'_>,
    entry: &SessionEntry,
    asked: &Asked,
    limit: usize,
) -> Result<Vec<Line>, StorageError> {
    if !asked.needles.is_empty() && !trail.may_say(entry, &asked.needles) {
        return Ok(Vec::new());
    }
    let table = trail.table(entry)?;
    let Some(matcher) = asked.filter.on(&table) else { return Ok(Vec::new()) };
    let saying = match asked.needles.as_slice() {
        [] => None,
        needles => Some(trail.saying(entry, needles)?),
    };
    let says =
        |row: Row<'_>| saying.as_ref().is_none_or(|seqs| row.parts().any(|part| seqs.contains(&part.seq)));
    let fitting = table.rows().rev().filter(|row| matcher.matches(*row) && says(*row));
    Ok(fitting.take(limit).map(|row| Line::of(&entry.session_id, row)).collect())
}
