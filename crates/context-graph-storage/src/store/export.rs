//! A copy of the tables and views for others, without the records themselves and without the sessions' state.

use std::path::Path;

use context_graph_core::audit::Entry;
use context_graph_core::session::{EventRecord, Session};
use rusqlite::{Connection, OpenFlags};

use super::ledger::Ledger;
use super::{About, SessionRow, rows, schema};
use crate::error::{Result, StorageError};
use crate::seal::Seal;

/// A database being written in one transaction.
#[derive(Debug)]
pub struct ExportCopy {
    connection: Connection,
    sessions: i64,
}

impl ExportCopy {
    /// Creates one in an empty file. Nobody else sees the file yet and it is deleted if anything fails, so it
    /// needs no journal.
    pub fn create(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let begun = Connection::open_with_flags(path, flags).and_then(|connection| {
            connection.execute_batch(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; BEGIN;",
            )?;
            schema::create_in(&connection)?;
            connection.execute_batch("DROP TABLE blocks; DROP TABLE states; DROP TABLE tombstones;")?;
            Ok(connection)
        });
        Ok(Self { connection: begun.map_err(failure)?, sessions: 0 })
    }

    /// Adds a session and its rows.
    pub fn add(
        &mut self,
        session: &Session,
        entries: &[Entry],
        records: &[(u64, EventRecord)],
    ) -> Result<()> {
        self.sessions += 1;
        let snapshot = &session.snapshot;
        let duration_ms = session.lasted_ms();
        let entry = SessionRow {
            session_id: snapshot.session_id.clone(),
            timestamp_ms: snapshot.timestamp_ms,
            first_stored_ms: session.state.started_ms,
            previous_session_id: snapshot.previous_session_id.clone(),
            project: Some(session.state.project.clone()),
            duration_ms,
            last_seq: records.last().map_or(0, |(seq, _)| *seq),
            folded_to: None,
            chain: None,
        };
        let about = Some(About::of(session));
        let ledger = Ledger { number: self.sessions, settled: entry.last_seq, entry, about };
        // A real tag would prove nothing to others, so the tags of the copy are made with a publicly known key.
        ledger
            .insert(&Seal::new([0; 32]), &self.connection)
            .and_then(|()| rows::put(&self.connection, ledger.number, entries, records))
            .map(|_| ())
            .map_err(failure)
    }

    /// Finishes the copy.
    pub fn finish(self) -> Result<()> {
        self.connection.execute_batch("COMMIT").map_err(failure)
    }
}

fn failure(error: rusqlite::Error) -> StorageError {
    StorageError::database(error.to_string())
}
