//! The interface of an export format.

use std::io;

use context_graph_core::audit::{Entry, Happening};
use context_graph_core::session::{EventRecord, Session};
use context_graph_storage::StorageError;
use thiserror::Error;

/// A session and the part of it that is exported.
#[derive(Debug)]
pub(super) struct ExportedSession {
    pub(super) session: Session,
    /// In order of their first records.
    pub(super) entries: Vec<Entry>,
    /// All its records, oldest first, with their numbers.
    pub(super) records: Vec<(u64, EventRecord)>,
}

impl ExportedSession {
    /// The payload of an event as it is stored, cut to size and redacted: JSON, unless it was unreadable.
    pub(super) fn payload(&self, happening: &Happening) -> &str {
        let found = self.records.binary_search_by_key(&happening.seq, |(seq, _)| *seq);
        found.map_or("", |at| &self.records[at].1.payload)
    }
}

/// An export format. It receives sessions one by one, oldest first.
pub(super) trait Sink {
    /// Writes what comes before the first session.
    fn begin(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn session(&mut self, exported: &ExportedSession) -> Result<(), SinkError>;

    /// Writes what comes after the last session, and flushes.
    fn finish(&mut self) -> Result<(), SinkError>;
}

/// Why something could not be written.
#[derive(Debug, Error)]
pub(super) enum SinkError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StorageError),
}
