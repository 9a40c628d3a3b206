//! From the store to a sink, session by session.

use context_graph_core::audit::{Entry, Origin, correlate};
use context_graph_storage::StorageError;
use context_graph_storage::store::SessionQuery;

use super::Stop;
use super::progress::Progress;
use super::selection::Selection;
use super::sink::{Sink, Told};
use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;
use crate::commands::session::Shelf;

/// The sessions to export, and what of them.
pub(super) struct Walk<'a> {
    shelf: &'a Shelf,
    /// Oldest first.
    session_ids: Vec<String>,
    selection: Selection,
}

/// What was exported.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) sessions: u64,
    pub(super) calls: u64,
    pub(super) events: u64,
    /// Sessions that could not be read, and why.
    damaged: Vec<(String, String)>,
}

impl<'a> Walk<'a> {
    /// Finds the sessions: those that are named, whole or by their beginning, else all of the project.
    pub(super) fn new(
        shelf: &'a Shelf,
        named: &[String],
        selection: Selection,
        project: Option<String>,
    ) -> Result<Self, Failure> {
        let session_ids = if named.is_empty() {
            // A session that saw its last event before that has nothing newer.
            let query = SessionQuery { since_ms: selection.since_ms(), project, ..SessionQuery::default() };
            let newest_first = shelf.sessions.list(shelf.store.as_ref(), &query)?;
            newest_first.into_iter().rev().map(|entry| entry.session_id).collect()
        } else {
            let mut found = Vec::new();
            for wanted in named {
                let id = shelf.find(Some(wanted))?;
                if !found.contains(&id) {
                    found.push(id);
                }
            }
            found
        };
        Ok(Self { shelf, session_ids, selection })
    }

    /// Writes all of it. A session that is damaged is left out and counted.
    pub(super) fn write_to(&self, sink: &mut dyn Sink) -> Result<Totals, Stop> {
        let mut totals = Totals::default();
        let mut progress = Progress::new(self.session_ids.len());
        sink.begin()?;
        for id in &self.session_ids {
            match self.tell(id) {
                Ok(Some(told)) => {
                    totals.count(&told);
                    sink.session(&told)?;
                }
                Ok(None) => {}
                Err(error @ StorageError::Corrupted { .. }) => {
                    totals.damaged.push((id.clone(), error.to_string()));
                }
                Err(error) => return Err(Stop::Source(error.into())),
            }
            progress.step();
        }
        sink.finish()?;
        Ok(totals)
    }

    /// A session and what is wanted of it; none if that is nothing, or if somebody has removed it since.
    fn tell(&self, session_id: &str) -> Result<Option<Told>, StorageError> {
        let store = self.shelf.store.as_ref();
        let Some(view) = self.shelf.sessions.view(store, session_id)? else { return Ok(None) };
        let session = view.session;
        let records = self.shelf.sessions.records(store, session_id)?;
        let origin = Origin { session_id, project: &session.state.project };
        // Calls are told from all records, and only then chosen from: an answer may lie outside the time asked for.
        let mut entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
        entries.retain(|entry| self.selection.wants(entry));
        let wanted = !entries.is_empty() || self.selection.is_everything();
        Ok(wanted.then_some(Told { session, entries }))
    }
}

impl Totals {
    fn count(&mut self, told: &Told) {
        let calls = told.entries.iter().filter(|entry| matches!(entry, Entry::Call(_))).count();
        self.sessions += 1;
        self.calls += calls as u64;
        self.events += (told.entries.len() - calls) as u64;
    }

    /// What there is to say of sessions that could not be read.
    pub(super) fn damage(&self) -> Option<Failure> {
        let (id, why) = self.damaged.first()?;
        let message =
            format!("{} sessions are damaged and were left out, first {id}: {why}", self.damaged.len());
        Some(Failure::new(ErrorCode::Corruption, message).with_next_step("all others were exported"))
    }
}
