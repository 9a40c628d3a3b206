//! What an export is written to.

use std::io;

use context_graph_core::audit::{Entry, Happening};
use context_graph_core::session::{EventRecord, Session};
use context_graph_storage::StorageError;
use thiserror::Error;

/// A session and what of it is to be exported.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) session: Session,
    /// In the order of their first records.
    pub(super) entries: Vec<Entry>,
    /// All its records, oldest first, with their numbers.
    pub(super) records: Vec<(u64, EventRecord)>,
}

impl Told {
    /// All that the client said with an event: JSON, unless it was found unreadable.
    pub(super) fn payload(&self, happening: &Happening) -> &str {
        let found = self.records.binary_search_by_key(&happening.seq, |(seq, _)| *seq);
        found.map_or("", |at| &self.records[at].1.payload)
    }
}

/// One format. It is given sessions one after the other, oldest first.
pub(super) trait Sink {
    /// Writes what stands before the first session.
    fn begin(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Writes a session.
    fn session(&mut self, told: &Told) -> Result<(), SinkError>;

    /// Writes what stands after the last session. Nothing is left in a buffer.
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
