//! What an export is written to.

use std::io;

use context_graph_core::audit::Entry;
use context_graph_core::session::Session;
use thiserror::Error;

/// A session and what of it is to be exported.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) session: Session,
    /// In the order of their first records.
    pub(super) entries: Vec<Entry>,
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
    Sqlite(#[from] rusqlite::Error),
}
