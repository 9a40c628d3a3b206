//! From the store to a sink, session by session.

use std::io::IsTerminal as _;

use context_graph_core::audit::{Entry, Origin, correlate};
use context_graph_storage::StorageError;
use context_graph_storage::audit_index::Trail;
use context_graph_storage::store::SessionEntry;

use super::super::asked::Asked;
use super::super::progress::Progress;
use super::super::search;
use super::Stop;
use super::selection::{choose, is_everything};
use super::sink::{Sink, Told};
use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;
use crate::commands::session::Shelf;
use crate::summary::counted;

/// The sessions to export, and what of them.
pub(super) struct Walk<'a> {
    shelf: &'a Shelf,
    trail: Trail<'a>,
    /// Oldest first.
    sessions: Vec<SessionEntry>,
    asked: Asked,
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
    /// Finds the sessions: those that were named, else all of the project, or of all projects where none is given.
    pub(super) fn new(shelf: &'a Shelf, asked: Asked, project: Option<&str>) -> Result<Self, Failure> {
        let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
        let wanted = |entry: &&SessionEntry| match &asked.sessions {
            Some(named) => named.contains(&entry.session_id),
            // A session that saw its last event before that has nothing newer.
            None => {
                asked.filter.since_ms.is_none_or(|since| entry.timestamp_ms >= since)
                    && project.is_none_or(|project| entry.project.as_deref() == Some(project))
            }
        };
        let sessions = trail.sessions().iter().rev().filter(wanted).cloned().collect();
        Ok(Self { shelf, trail, sessions, asked })
    }

    /// Writes all of it. A session that is damaged is left out and counted.
    pub(super) fn write_to(&mut self, sink: &mut dyn Sink, is_stdout: bool) -> Result<Totals, Stop> {
        let mut totals = Totals::default();
        let disturbing = is_stdout && std::io::stdout().is_terminal();
        let mut progress = Progress::new("exporting sessions").unless(disturbing);
        let of = self.sessions.len() as u64;
        sink.begin()?;
        for (done, entry) in (1_u64..).zip(std::mem::take(&mut self.sessions)) {
            match self.tell(&entry) {
                Ok(Some(told)) => {
                    totals.count(&told);
                    sink.session(&told)?;
                }
                Ok(None) => {}
                Err(error @ StorageError::Corrupted { .. }) => {
                    totals.damaged.push((entry.session_id, error.to_string()));
                }
                Err(error) => return Err(Stop::Source(error.into())),
            }
            progress.tell(done, of);
        }
        sink.finish()?;
        self.trail.save();
        Ok(totals)
    }

    /// A session and what is wanted of it; none if that is nothing, or if somebody has removed it since.
    fn tell(&mut self, entry: &SessionEntry) -> Result<Option<Told>, StorageError> {
        let everything = is_everything(&self.asked);
        // The index knows at once whether a session has anything that fits.
        if !everything && search::in_session(&mut self.trail, entry, &self.asked, 1)?.is_empty() {
            return Ok(None);
        }
        let session_id = entry.session_id.as_str();
        let view = self.shelf.sessions.view(self.shelf.store.as_ref(), session_id)?;
        let Some(session) = view.map(|view| view.session) else { return Ok(None) };
        let records = self.trail.records(session_id)?;
        let origin = Origin { session_id, project: &session.state.project };
        // Calls are told from all records, and only then chosen from: an answer may lie outside the time asked for.
        let mut entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
        if !everything {
            choose(&self.asked, session_id, &records, &mut entries);
        }
        Ok((everything || !entries.is_empty()).then_some(Told { session, entries, records }))
    }
}

impl Totals {
    fn count(&mut self, told: &Told) {
        let calls = told.entries.iter().filter(|entry| matches!(entry, Entry::Call(_))).count();
        self.sessions += 1;
        self.calls += calls as u64;
        self.events += (told.entries.len() - calls) as u64;
    }

    /// How many sessions could not be read.
    pub(super) fn damaged(&self) -> usize {
        self.damaged.len()
    }

    /// What there is to say of sessions that could not be read.
    pub(super) fn damage(&self) -> Option<Failure> {
        let (id, why) = self.damaged.first()?;
        let message = format!(
            "left out as damaged: {}, first {id}: {why}",
            counted(self.damaged.len(), "session", "sessions")
        );
        Some(Failure::new(ErrorCode::Corruption, message).with_next_step("all others were exported"))
    }
}
