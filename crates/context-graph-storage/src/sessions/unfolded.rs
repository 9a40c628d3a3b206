//! Sessions with records that are not in the store yet, loaded into the same tables in memory. A second query loads
//! only the new records.

use std::ops::ControlFlow;

use context_graph_core::session::EventRecord;

use super::codec::{decode_record, encode_record, encode_session};
use super::{SessionView, Sessions};
use crate::error::Result;
use crate::store::{About, FoldBatch, LogRecord, Store, Why};

/// Sessions with records that are not in the store yet.
#[derive(Debug, Default)]
pub struct Unfolded {
    store: Option<Store>,
    ids: Vec<String>,
    /// For each session: how many records are loaded, and the time of the last one.
    loaded: Vec<(u64, i64)>,
}

impl Unfolded {
    /// Loads the records in journals.
    pub fn read(sessions: &Sessions, store: Option<&Store>) -> Result<Self> {
        let mut unfolded = Self::default();
        unfolded.refresh(sessions, store)?;
        Ok(unfolded)
    }

    /// Loads the new records in journals.
    pub fn refresh(&mut self, sessions: &Sessions, store: Option<&Store>) -> Result<()> {
        let live: Vec<String> = sessions.folder().live_sessions()?.into_iter().map(|(id, _)| id).collect();
        for id in self.ids.clone().iter().filter(|id| !live.contains(id)) {
            self.forget(id)?;
        }
        for id in live {
            let Some(view) = sessions.view(store, &id)? else { continue };
            let at = self.ids.iter().position(|known| *known == id);
            if at.is_none() && view.unfolded.is_empty() && view.stored_records > 0 {
                continue;
            }
            self.load(store, &id, view, sessions)?;
        }
        Ok(())
    }

    /// The tables.
    pub(super) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The ids of the sessions in them.
    pub(super) fn ids(&self) -> &[String] {
        &self.ids
    }

    fn forget(&mut self, id: &str) -> Result<()> {
        if let (Some(at), Some(live)) = (self.ids.iter().position(|known| known == id), &self.store) {
            live.forget(id, 0, Why::Forgotten)?;
            self.ids.remove(at);
            self.loaded.remove(at);
        }
        Ok(())
    }

    /// Adds a session's new records to the tables.
    fn load(
        &mut self,
        store: Option<&Store>,
        id: &str,
        view: SessionView,
        sessions: &Sessions,
    ) -> Result<()> {
        let known = self.ids.iter().position(|known| known == id);
        let (mut loaded, last_ms) = known.map_or((0, 0), |at| self.loaded[at]);
        let total = view.stored_records + view.unfolded.len() as u64;
        if loaded > 0 && time_of(store, id, loaded, &view)? != Some(last_ms) {
            // The loaded records differ from the current ones: the session was imported again, or something was lost.
            self.forget(id)?;
            loaded = 0;
        } else if loaded == total && loaded > 0 {
            return Ok(());
        }
        let mut records = Vec::new();
        let mut last_ms = last_ms;
        visit(store, id, loaded + 1, &view, &mut |_, record| {
            last_ms = record.at_ms;
            let bytes = encode_record(&record)?;
            records.push(LogRecord { tool_use_id: record.tool_use_id, bytes, source: None });
            Ok(())
        })?;
        let live = match self.store.take() {
            Some(live) => live,
            None => Store::in_memory()?,
        };
        let session = view.session;
        let loaded = loaded + records.len() as u64;
        live.commit_fold(&FoldBatch {
            state: Some(encode_session(&session)?),
            records,
            project: Some(sessions.project_of(&session)),
            about: Some(About::of(&session)),
            ..FoldBatch::of(session.snapshot)
        })?;
        self.store = Some(live);
        if let Some(at) = self.ids.iter().position(|known| known == id) {
            self.loaded[at] = (loaded, last_ms);
        } else {
            self.ids.push(id.to_owned());
            self.loaded.push((loaded, last_ms));
        }
        Ok(())
    }
}

/// Visits the records of a session from this sequence number on, as the log keeps them.
fn visit(
    store: Option<&Store>,
    id: &str,
    from: u64,
    view: &SessionView,
    take: &mut dyn FnMut(u64, EventRecord) -> Result<()>,
) -> Result<()> {
    let mut outcome = Ok(());
    if let Some(store) = store.filter(|_| from <= view.stored_records) {
        store.visit_log(id, from, &mut |entry| {
            let record = entry.content.and_then(|content| decode_record(content.bytes).ok());
            outcome = record.map_or(Ok(()), |record| take(entry.seq, record));
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    outcome?;
    for (seq, record) in (view.stored_records + 1..).zip(&view.unfolded).filter(|(seq, _)| *seq >= from) {
        take(seq, record.clone().for_the_log())?;
    }
    Ok(())
}

/// When the record with this sequence number came.
fn time_of(store: Option<&Store>, id: &str, seq: u64, view: &SessionView) -> Result<Option<i64>> {
    if let Some(at) = seq.checked_sub(view.stored_records + 1) {
        let record = usize::try_from(at).ok().and_then(|at| view.unfolded.get(at));
        return Ok(record.map(|record| record.at_ms));
    }
    let mut found = None;
    if let Some(store) = store {
        store.visit_log(id, seq, &mut |entry| {
            let record = entry
                .content
                .filter(|_| entry.seq == seq)
                .and_then(|content| decode_record(content.bytes).ok());
            found = record.map(|record| record.at_ms);
            ControlFlow::Break(())
        })?;
    }
    Ok(found)
}
