//! Reading sessions. Nothing here makes a hook wait longer than reading two small files takes, and nothing has
//! to be folded first: what is still in a journal is read from there.

use context_graph_core::session::{EventRecord, Session};

use super::Sessions;
use super::codec::{decode_record, decode_session};
use super::load::{apply, stored};
use crate::error::Result;
use crate::store::{Patience, SessionQuery, SessionRow, Store, StoredRecord, refuse_other_engine};

/// Where a session was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In its live files.
    Live,
    /// Only in the store.
    Stored,
}

/// The current state of a session.
#[derive(Debug)]
pub struct SessionView {
    /// The session.
    pub session: Session,
    /// Where it was found.
    pub source: Source,
    /// Records that are not in the store yet, oldest first.
    pub unfolded: Vec<EventRecord>,
    /// How many records the store has.
    pub stored_records: u64,
}

impl Sessions {
    /// Opens the store if there is one.
    pub fn store(&self, now_ms: i64) -> Result<Option<Store>> {
        self.store_as(Patience::Command, now_ms)
    }

    /// Opens the store if there is one, with this patience.
    pub fn store_as(&self, patience: Patience, now_ms: i64) -> Result<Option<Store>> {
        if !self.has_store() {
            // If there is a database of another engine, "nothing is stored" would be wrong. Hooks continue with
            // journals, and the end of a turn reports it.
            if patience == Patience::Command {
                refuse_other_engine(&self.folder.database())?;
            }
            return Ok(None);
        }
        let store = self.folder.open_store_as(patience, now_ms)?;
        // The caller may take a long time, and must not keep others from writing.
        store.end_look()?;
        Ok(Some(store))
    }

    /// The current state of a session, including its journal.
    pub fn view(&self, store: Option<&Store>, session_id: &str) -> Result<Option<SessionView>> {
        let entry = store.map(|store| store.session(session_id)).transpose()?.flatten();
        let folded_to = entry.as_ref().and_then(|entry| entry.folded_to);
        let stored_records = entry.as_ref().map_or(0, |entry| entry.last_seq);
        let live = self.folder.session(session_id)?;
        let mut found = store.map(|store| stored(store, session_id)).transpose()?.flatten();
        let mut unfolded = Vec::new();
        let mut source = Source::Stored;
        if let Some(mut lock) = live.lock_existing()? {
            source = Source::Live;
            if let Some(state) = lock.read_state()?
                && let Ok(session) = decode_session(state.payload())
            {
                found = Some((session, Some(state.applied)));
            }
            let tail = lock.entries_since(folded_to)?;
            unfolded = tail.entries().filter_map(|entry| decode_record(entry.payload).ok()).collect();
            let first = unfolded.first().map_or(0, |record| record.at_ms);
            let (session, applied) =
                found.get_or_insert_with(|| (Session::new(session_id, self.project(), first), None));
            for entry in lock.entries_since(*applied)?.entries() {
                apply(session, &entry);
            }
        }
        Ok(found.map(|(session, _)| SessionView { session, source, unfolded, stored_records }))
    }

    /// All records of a session, oldest first, with their sequence numbers.
    pub fn records(&self, store: Option<&Store>, session_id: &str) -> Result<Vec<(u64, EventRecord)>> {
        let mut records = Vec::new();
        if let Some(store) = store {
            for StoredRecord { seq, bytes, .. } in store.log(session_id, 1, usize::MAX)? {
                if let Some(record) = bytes.and_then(|bytes| decode_record(&bytes).ok()) {
                    records.push((seq, record));
                }
            }
        }
        if let Some(view) = self.view(store, session_id)? {
            let next = view.stored_records + 1;
            records.extend((next..).zip(view.unfolded.into_iter().map(EventRecord::for_the_log)));
        }
        Ok(records)
    }

    /// The matching sessions, newest first, including those that are not in the store yet.
    pub fn list(&self, store: Option<&Store>, query: &SessionQuery) -> Result<Vec<SessionRow>> {
        let mut entries = store.map(|store| store.list_sessions(query)).transpose()?.unwrap_or_default();
        for (session_id, _) in self.folder.live_sessions()? {
            let view = match self.view(store, &session_id) {
                Ok(Some(view)) => view,
                Ok(None) => continue,
                Err(error) if error.can_wait() => return Err(error),
                // A damaged session does not keep the others from being listed.
                Err(_) => {
                    if entries.iter().all(|entry| entry.session_id != session_id) {
                        entries.push(SessionRow { session_id, ..SessionRow::default() });
                    }
                    continue;
                }
            };
            let timestamp_ms = view.session.snapshot.timestamp_ms;
            let project = self.project_of(&view.session);
            entries.retain(|entry| entry.session_id != session_id);
            let matches = query.since_ms.is_none_or(|since| timestamp_ms >= since)
                && query.until_ms.is_none_or(|until| timestamp_ms <= until)
                && query.project.as_ref().is_none_or(|asked| *asked == project);
            if matches {
                entries.push(SessionRow {
                    session_id,
                    timestamp_ms,
                    first_stored_ms: view.session.state.started_ms,
                    previous_session_id: view.session.snapshot.previous_session_id.clone(),
                    project: Some(project),
                    duration_ms: view.session.lasted_ms(),
                    last_seq: view.stored_records + view.unfolded.len() as u64,
                    folded_to: None,
                    chain: None,
                });
            }
        }
        entries.sort_by(|a, b| (b.timestamp_ms, &b.session_id).cmp(&(a.timestamp_ms, &a.session_id)));
        entries.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(entries)
    }
}
