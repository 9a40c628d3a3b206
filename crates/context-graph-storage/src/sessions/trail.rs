//! What happened in the sessions of a state folder, those included that are still in their journals: these are told in
//! memory, by the same tables, and asked the same questions.

use super::Sessions;
use super::codec::{encode_record, encode_session};
use crate::error::Result;
use crate::store::{About, Counting, Counts, DayOf, EntryRow, Filter, FoldBatch, LogRecord, Store, Tally};

/// What happened in the sessions of a state folder.
#[derive(Debug)]
pub struct Trail<'a> {
    store: Option<&'a Store>,
    /// The sessions that are not in the store as they are now.
    live: Option<Store>,
    /// Their ids.
    ids: Vec<String>,
}

impl<'a> Trail<'a> {
    /// Reads what is in journals.
    pub fn open(sessions: &Sessions, store: Option<&'a Store>) -> Result<Self> {
        let mut trail = Self { store, live: None, ids: Vec::new() };
        for (id, _) in sessions.folder().live_sessions()? {
            let Some(view) = sessions.view(store, &id)? else { continue };
            if view.unfolded.is_empty() && view.stored_records > 0 {
                continue;
            }
            let live = match trail.live.take() {
                Some(live) => live,
                None => Store::in_memory()?,
            };
            let records = sessions.records(store, &id)?;
            let records = records.into_iter().map(|(_, record)| {
                let bytes = encode_record(&record)?;
                Ok(LogRecord { tool_use_id: record.tool_use_id, bytes, source: None })
            });
            let session = view.session;
            live.commit_fold(&FoldBatch {
                state: Some(encode_session(&session)?),
                records: records.collect::<Result<_>>()?,
                project: Some(session.state.project.clone()),
                about: Some(About::of(&session)),
                ..FoldBatch::of(session.snapshot)
            })?;
            trail.live = Some(live);
            trail.ids.push(id);
        }
        Ok(trail)
    }

    /// The newest `limit` entries that fit, oldest first.
    pub fn entries(&self, filter: &Filter, limit: usize) -> Result<Vec<EntryRow>> {
        let mut found = match self.store {
            Some(store) => store.entries(filter, &self.ids, limit)?,
            None => Vec::new(),
        };
        if let Some(live) = &self.live {
            found.extend(live.entries(filter, &[], limit)?);
            found.sort_by(|a, b| a.order().cmp(&b.order()));
            found.drain(..found.len().saturating_sub(limit));
        }
        Ok(found)
    }

    /// Counts what happened.
    pub fn tally(&self, counting: &Counting<'_>, day_of: DayOf<'_>) -> Result<Tally> {
        let mut tally = Tally::default();
        if let Some(store) = self.store {
            let counting = Counting { passed_over: &self.ids, ..*counting };
            store.tally(&counting, day_of, &mut tally)?;
        }
        if let Some(live) = &self.live {
            live.tally(counting, day_of, &mut tally)?;
        }
        Ok(tally)
    }

    /// What became of a session's calls.
    pub fn call_counts(&self, session_id: &str) -> Result<Counts> {
        let is_live = self.ids.iter().any(|id| id == session_id);
        let store = if is_live { self.live.as_ref() } else { self.store };
        store.map_or(Ok(Counts::default()), |store| store.call_counts(session_id))
    }

    /// The ids of calls that begin so, each once, and at most two; and the sessions that know one.
    pub fn calls_beginning(&self, beginning: &str) -> Result<(Vec<String>, Vec<String>)> {
        let (mut ids, mut sessions) = (Vec::new(), Vec::new());
        for store in self.store.into_iter().chain(&self.live) {
            let (found, known_by) = store.calls_beginning(beginning)?;
            ids.extend(found);
            sessions.extend(known_by);
        }
        for list in [&mut ids, &mut sessions] {
            list.sort();
            list.dedup();
        }
        ids.truncate(2);
        Ok((ids, sessions))
    }
}
