//! A database that any SQL tool opens: tables, and views for the usual questions.

mod rows;

use std::path::Path;

use context_graph_core::audit::Entry;
use rusqlite::{Connection, OpenFlags};

use self::rows::Inserts;
use super::sink::{Sink, SinkError, Told};

const SCHEMA: &str = include_str!("schema.sql");
const INDEXES: &str = include_str!("indexes.sql");

/// The version of the tables and views, as `PRAGMA user_version` tells it.
const VERSION: i64 = 1;

/// A database being written, all of it in one transaction.
pub(super) struct Database {
    connection: Connection,
}

impl Database {
    /// Makes one of an empty file. Nobody else sees the file yet and it is thrown away if anything fails, so it needs
    /// no journal of its own.
    pub(super) fn create(path: &Path) -> Result<Self, SinkError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8192; PRAGMA temp_store = FILE;",
        )?;
        Ok(Self { connection })
    }
}

impl Sink for Database {
    fn begin(&mut self) -> Result<(), SinkError> {
        self.connection.execute_batch("BEGIN")?;
        self.connection.execute_batch(SCHEMA)?;
        self.connection.pragma_update(None, "user_version", VERSION)?;
        Ok(())
    }

    fn session(&mut self, told: &Told) -> Result<(), SinkError> {
        let mut inserts = Inserts::prepare(&self.connection)?;
        inserts.session(&told.session)?;
        for entry in &told.entries {
            match entry {
                Entry::Call(call) => inserts.call(call)?,
                Entry::Event(happening) => {
                    let session_id = &told.session.snapshot.session_id;
                    inserts.event(session_id, happening, told.payload(happening))?;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.connection.execute_batch(INDEXES)?;
        self.connection.execute_batch("COMMIT")?;
        Ok(())
    }
}
