//! `audit verify --team`: compares the local chains with the heads that the team has.

use std::ops::ControlFlow;

use context_graph_storage::Store;
use context_graph_storage::store::{Chain, Tombstone};

use super::marks::Marks;
use super::{failure, membership};
use crate::Environment;
use crate::commands::failure::Failure;
use crate::commands::session::{PlaceArgs, Shelf};

/// How many sessions were compared, and the first difference.
pub(crate) struct Compared {
    pub(crate) sessions: u64,
    pub(crate) first_break: Option<String>,
}

/// Compares every session of this project that the team has.
pub(crate) fn verify(
    place: &PlaceArgs,
    shelf: &Shelf,
    environment: &Environment,
) -> Result<Compared, Failure> {
    let environment = environment.in_project(place.project.as_deref());
    let membership = membership(&environment)?;
    let marks = Marks::read(&environment, place.db_path.as_deref())?;
    let standings = membership.client().and_then(|client| client.standings()).map_err(failure)?;
    let mut compared = Compared { sessions: 0, first_break: None };
    let Some(store) = &shelf.store else { return Ok(compared) };
    let gone: Vec<[u8; 16]> = store.tombstones()?.iter().map(|stone| stone.fingerprint).collect();
    for standing in standings {
        let id = &standing.session_id;
        let Some(ordinal) = store.ordinal(id)? else {
            // Missing if it was pushed from here and left no tombstone. Otherwise it was removed here, or it belongs to another
            // project.
            if marks.all.contains_key(id) && !gone.contains(&Tombstone::fingerprint(id)) {
                compared
                    .first_break
                    .get_or_insert(format!("session {id}: the team has it, but it is missing here"));
            }
            continue;
        };
        compared.sessions += 1;
        let found = if ordinal == standing.ordinal {
            link_behind(store, id, ordinal, standing.records)?
        } else {
            None
        };
        if found.is_none_or(|link| link.to_string() != standing.local) {
            compared.first_break.get_or_insert(format!(
                "session {id}: its first {} records are not those that were pushed to the team",
                standing.records
            ));
        }
    }
    Ok(compared)
}

/// The chain after this many records; `None` if there are fewer.
fn link_behind(store: &Store, id: &str, ordinal: u64, records: u64) -> Result<Option<Chain>, Failure> {
    let (mut link, mut last) = (Chain::begin(ordinal, id), 0);
    store.visit_log(id, 1, &mut |entry| {
        let Some(content) = entry.content.filter(|_| entry.seq <= records) else {
            return ControlFlow::Break(());
        };
        link = link.next(entry.seq, content.tool_use_id, content.bytes);
        last = entry.seq;
        ControlFlow::Continue(())
    })?;
    Ok((last == records).then_some(link))
}
