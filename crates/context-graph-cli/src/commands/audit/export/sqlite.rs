//! A database for any SQL tool, with the tables and views of the store.

use std::path::Path;

use context_graph_storage::store::ExportCopy;

use super::sink::{ExportedSession, Sink, SinkError};

/// A database being written.
pub(super) struct Database(Option<ExportCopy>);

impl Database {
    /// Creates a database in an empty file.
    pub(super) fn create(path: &Path) -> Result<Self, SinkError> {
        Ok(Self(Some(ExportCopy::create(path)?)))
    }
}

impl Sink for Database {
    fn session(&mut self, exported: &ExportedSession) -> Result<(), SinkError> {
        match &mut self.0 {
            Some(copy) => Ok(copy.add(&exported.session, &exported.entries, &exported.records)?),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.0.take().map_or(Ok(()), |copy| Ok(copy.finish()?))
    }
}
