//! Forgets a session: its rows in every table, its words in the index, and the links of sessions that continue
//! it. SQLite overwrites what it deletes, so nothing of it stays in the file.

use rusqlite::{Connection, params};

use super::ledger::find;
use super::rows::forget_from;
use super::sessions::SNAPSHOT;
use super::{Removed, Store, Why, leftover, tombstone, words};
use crate::codec;
use crate::error::Result;
use crate::live::Position;
use crate::seal::Seal;
use crate::session_key::SessionKey;

impl Store {
    /// Removes the session, its log and everything derived from it, and adds a tombstone. Sessions that
    /// continue it lose that link.
    pub fn forget(&self, id: &str, at_ms: i64, why: Why) -> Result<Removed> {
        self.forget_leaving(id, at_ms, why, None)
    }

    /// The same for a session with live files, whose journal ends at `up_to`. They are removed afterwards; until then no
    /// fold stores what is in them.
    pub(crate) fn forget_leaving(
        &self,
        id: &str,
        at_ms: i64,
        why: Why,
        up_to: Option<Position>,
    ) -> Result<Removed> {
        SessionKey::new(id)?;
        // The rollback journal contains the old content, and that of earlier transactions, so it is emptied.
        self.run(|store| store.connection.execute_batch("PRAGMA journal_mode = TRUNCATE"))?;
        let transaction = self.begin()?;
        let removed = self.run(|_| {
            let removed = forget(&self.seal, &transaction, id, at_ms, why)?;
            if let (Some(_), Some(up_to)) = (&removed, up_to) {
                leftover::note(&self.seal, &transaction, id, up_to)?;
            }
            Ok(removed.unwrap_or_default())
        })?;
        self.run(|_| transaction.commit())?;
        self.run(|store| store.connection.execute_batch("PRAGMA journal_mode = PERSIST"))?;
        Ok(removed)
    }
}

/// Removes a session; `None` if it is not stored.
fn forget(
    seal: &Seal,
    connection: &Connection,
    id: &str,
    at_ms: i64,
    why: Why,
) -> rusqlite::Result<Option<Removed>> {
    unlink(seal, connection, id)?;
    let Some(ledger) = find(connection, id)? else { return Ok(None) };
    let session = ledger.number;
    words::forget(connection, session)?;
    let there = "SELECT snapshot IS NOT NULL, state IS NOT NULL FROM states WHERE session = ?";
    let (snapshot, state) =
        connection.query_row(there, [session], |row| Ok((row.get(0)?, row.get(1)?))).unwrap_or_default();
    let rows = forget_from(connection, session, 0)? as u64;
    for asked in [
        "DELETE FROM blocks WHERE session = ?",
        "DELETE FROM states WHERE session = ?",
        "DELETE FROM sessions WHERE number = ?",
    ] {
        connection.execute(asked, [session])?;
    }
    tombstone::leave(connection, &ledger, at_ms, why)?;
    Ok(Some(Removed { snapshot, state, records: ledger.entry.last_seq, rows }))
}

/// Removes the link to a session from those that continue it, and from their state.
fn unlink(seal: &Seal, connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT n.number, n.session_id, s.snapshot FROM sessions n JOIN states s ON s.session = n.number
         WHERE n.previous_id = ?",
    )?;
    let successors: Vec<(i64, String, Option<Vec<u8>>)> = statement
        .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (number, successor, snapshot) in successors {
        if let Some(mut ledger) = find(connection, &successor)? {
            ledger.entry.previous_session_id = None;
            ledger.update(seal, connection, true)?;
        }
        connection.execute(
            "DELETE FROM injections WHERE session = ? AND kind = 'previous_session' AND content = ?",
            params![number, id],
        )?;
        let content = snapshot.as_deref().and_then(|bytes| seal.disclose(SNAPSHOT, &successor, bytes));
        if let Some(mut snapshot) = content.and_then(|bytes| codec::decode(bytes).ok()) {
            snapshot.previous_session_id = None;
            if let Ok(bytes) = codec::encode(&snapshot) {
                let bytes = seal.enclose(SNAPSHOT, &successor, &bytes);
                connection
                    .execute("UPDATE states SET snapshot = ? WHERE session = ?", params![bytes, number])?;
            }
        }
    }
    Ok(())
}
