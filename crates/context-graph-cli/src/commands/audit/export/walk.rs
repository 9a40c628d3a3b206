//! Goes from the store to a sink, session by session.

use std::collections::HashSet;
use std::io::IsTerminal as _;

use context_graph_core::audit::{Entry, SessionRef, correlate};
use context_graph_storage::StorageError;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Filter, SessionQuery, SessionRow};

use super::ExportEnd;
use super::sink::{ExportedSession, Sink};
use crate::commands::failure::Failure;
use crate::commands::session::{Shelf, Shelves};
use crate::error_code::ErrorCode;
use crate::progress::Progress;
use crate::summary::counted;

/// The sessions to export, and which parts of them.
pub(super) struct Walk<'a> {
    projects: Vec<Project<'a>>,
    /// Each with the number of its project, oldest first.
    sessions: Vec<(usize, SessionRow)>,
}

/// A project, and the filter for its entries.
struct Project<'a> {
    shelf: &'a Shelf,
    trail: Trail<'a>,
    asked: Filter,
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
    /// Finds the sessions: those that were named, else all of the projects.
    pub(super) fn new(shelves: &'a Shelves, asked: Vec<Filter>) -> Result<Self, Failure> {
        let (mut projects, mut sessions) = (Vec::new(), Vec::new());
        for (at, (shelf, asked)) in shelves.iter().zip(asked).enumerate() {
            // A session whose last event is older has nothing to export.
            let since_ms = asked.since_ms.filter(|_| asked.sessions.is_none());
            let query = SessionQuery { since_ms, project: asked.project.clone(), ..SessionQuery::default() };
            let found = shelf.sessions.list(shelf.store.as_ref(), &query)?.into_iter();
            let is_wanted = |id: &String| asked.sessions.as_ref().is_none_or(|named| named.contains(id));
            sessions.extend(found.filter(|entry| is_wanted(&entry.session_id)).map(|entry| (at, entry)));
            let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
            projects.push(Project { shelf, trail, asked });
        }
        sessions
            .sort_by(|(_, a), (_, b)| (a.timestamp_ms, &a.session_id).cmp(&(b.timestamp_ms, &b.session_id)));
        Ok(Self { projects, sessions })
    }

    /// Writes everything. A damaged session is left out and counted.
    pub(super) fn write_to(&mut self, sink: &mut dyn Sink, is_stdout: bool) -> Result<Totals, ExportEnd> {
        let mut totals = Totals::default();
        let disturbing = is_stdout && std::io::stdout().is_terminal();
        let mut progress = Progress::new("exporting sessions").unless(disturbing);
        let of = self.sessions.len() as u64;
        sink.begin()?;
        for (done, (at, entry)) in (1_u64..).zip(std::mem::take(&mut self.sessions)) {
            match self.projects[at].read(&entry) {
                Ok(Some(exported)) => {
                    totals.count(&exported);
                    sink.session(&exported)?;
                }
                Ok(None) => {}
                Err(error @ StorageError::Corrupted { .. }) => {
                    totals.damaged.push((entry.session_id, error.to_string()));
                }
                Err(error) => return Err(ExportEnd::Source(error.into())),
            }
            progress.tell(done, of);
        }
        sink.finish()?;
        Ok(totals)
    }
}

impl Project<'_> {
    /// A session and the wanted part of it. `None` if that is nothing, or if the session has been removed
    /// since.
    fn read(&self, entry: &SessionRow) -> Result<Option<ExportedSession>, StorageError> {
        let everything = is_everything(&self.asked);
        let session_id = entry.session_id.as_str();
        let mut chosen = HashSet::new();
        if !everything {
            let here = Filter { sessions: Some(vec![session_id.to_owned()]), ..self.asked.clone() };
            let rows = self.trail.entries(&here, usize::MAX)?;
            chosen.extend(rows.into_iter().map(|row| (row.seq, row.is_call, row.tool_use_id)));
            if chosen.is_empty() {
                return Ok(None);
            }
        }
        let view = self.shelf.sessions.view(self.shelf.store.as_ref(), session_id)?;
        let Some(session) = view.map(|view| view.session) else { return Ok(None) };
        let records = self.shelf.sessions.records(self.shelf.store.as_ref(), session_id)?;
        let origin = SessionRef { session_id, project: &session.state.project };
        // Calls are built from all records and filtered after that: a result may lie outside the requested
        // time.
        let mut entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
        if !everything {
            entries.retain(|entry| {
                let id = match entry {
                    Entry::Call(call) => Some(call.tool_use_id.clone()),
                    Entry::Event(_) => None,
                };
                chosen.contains(&(entry.first_seq(), id.is_some(), id.unwrap_or_default()))
            });
        }
        Ok((everything || !entries.is_empty()).then_some(ExportedSession { session, entries, records }))
    }
}

/// Whether the filter keeps everything of a session.
fn is_everything(asked: &Filter) -> bool {
    let Filter {
        clients,
        tools,
        events,
        agents,
        verdicts,
        outcomes,
        rules,
        paths,
        needles,
        since_ms,
        until_ms,
        ..
    } = asked;
    let names = [tools, events, agents, verdicts, rules, paths];
    names.into_iter().all(Vec::is_empty)
        && clients.is_empty()
        && needles.is_empty()
        && outcomes.is_empty()
        && since_ms.is_none()
        && until_ms.is_none()
}

impl Totals {
    fn count(&mut self, exported: &ExportedSession) {
        let calls = exported.entries.iter().filter(|entry| matches!(entry, Entry::Call(_))).count();
        self.sessions += 1;
        self.calls += calls as u64;
        self.events += (exported.entries.len() - calls) as u64;
    }

    pub(super) fn damaged(&self) -> usize {
        self.damaged.len()
    }

    /// The failure to report if sessions could not be read.
    pub(super) fn damage(&self) -> Option<Failure> {
        let (id, why) = self.damaged.first()?;
        let message = format!(
            "left out as damaged: {}, first {id}: {why}",
            counted(self.damaged.len(), "session", "sessions")
        );
        Some(Failure::new(ErrorCode::Corruption, message).with_next_step("all others were exported"))
    }
}
