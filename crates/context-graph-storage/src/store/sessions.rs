//! Reads sessions: one, the newest, those of a project.

use std::collections::HashMap;
use std::ops::ControlFlow;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use rusqlite::{OptionalExtension as _, Row, ToSql, params};
use xxhash_rust::xxh3::xxh3_64;

use super::ledger::{Ledger, find, is_ours, select};
use super::{SessionQuery, SessionRow, SessionVisitor, Stats, Store};
use crate::codec;
use crate::error::{Result, StorageError};
use crate::session_key::SessionKey;

/// The purposes of the seals of a snapshot and a state.
pub(super) const SNAPSHOT: &str = "stored snapshot";
pub(super) const STATE: &str = "stored state";

/// The stored snapshot and state of a session.
struct States {
    number: i64,
    snapshot: Option<Vec<u8>>,
    state: Option<Vec<u8>>,
}

impl Store {
    /// The stored snapshot. One that cannot be decoded is moved to quarantine and reported once.
    pub fn snapshot(&self, id: &str) -> Result<Option<SessionIdentitySnapshot>> {
        let Some(States { number, snapshot: Some(bytes), .. }) = self.states(id)? else { return Ok(None) };
        self.open_snapshot(id, number, &bytes).map(Some)
    }

    /// The further state stored with the snapshot. An invalid one is moved to quarantine and reported once.
    pub fn state(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let Some(States { number, state: Some(bytes), .. }) = self.states(id)? else { return Ok(None) };
        self.open_state(id, number, &bytes).map(Some)
    }

    /// Both, for a session that has a snapshot.
    pub fn snapshot_and_state(&self, id: &str) -> Result<Option<(SessionIdentitySnapshot, Option<Vec<u8>>)>> {
        let Some(States { number, snapshot: Some(bytes), state }) = self.states(id)? else { return Ok(None) };
        let snapshot = self.open_snapshot(id, number, &bytes)?;
        let state = state.map(|bytes| self.open_state(id, number, &bytes)).transpose()?;
        Ok(Some((snapshot, state)))
    }

    fn states(&self, id: &str) -> Result<Option<States>> {
        SessionKey::new(id)?;
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT session, snapshot, state FROM states
                 WHERE session = (SELECT number FROM sessions WHERE session_id = ?)",
            )?;
            let read =
                |row: &Row<'_>| Ok(States { number: row.get(0)?, snapshot: row.get(1)?, state: row.get(2)? });
            statement.query_row([id], read).optional()
        })
    }

    fn open_snapshot(&self, id: &str, number: i64, bytes: &[u8]) -> Result<SessionIdentitySnapshot> {
        let too_new = match self.seal.disclose(SNAPSHOT, id, bytes).map(codec::decode) {
            Some(Ok(snapshot)) if snapshot.session_id == id => return Ok(snapshot),
            Some(Err(flaw)) => flaw.too_new(id),
            _ => None,
        };
        Err(too_new.unwrap_or_else(|| self.put_aside(id, number, "snapshot", bytes)))
    }

    fn open_state(&self, id: &str, number: i64, bytes: &[u8]) -> Result<Vec<u8>> {
        let state = self.seal.disclose(STATE, id, bytes).map(<[u8]>::to_vec);
        state.ok_or_else(|| self.put_aside(id, number, "state", bytes))
    }

    /// Saves damaged bytes, removes them from the store, and returns the error.
    fn put_aside(&self, id: &str, number: i64, column: &str, bytes: &[u8]) -> StorageError {
        let name = |key| format!("{key}.{column}-{:016x}", xxh3_64(bytes));
        let saved = SessionKey::new(id).and_then(|key| self.quarantine.save(&name(key), bytes));
        let moved_to = match saved {
            Ok((moved_to, _)) => moved_to,
            Err(error) => return error,
        };
        let asked = format!("UPDATE states SET {column} = NULL WHERE session = ?");
        let taken =
            self.end_look().and_then(|()| self.run(|store| store.connection.execute(&asked, [number])));
        match taken {
            Ok(_) => StorageError::Corrupted { what: format!("the {column} of session {id}"), moved_to },
            Err(error) => error,
        }
    }

    /// Whether the session is there.
    pub fn knows(&self, id: &str) -> Result<bool> {
        self.run(|store| {
            store.connection.prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?")?.exists([id])
        })
    }

    /// The session's list entry.
    pub fn session(&self, id: &str) -> Result<Option<SessionRow>> {
        SessionKey::new(id)?;
        self.run(|store| Ok(find(&store.connection, id)?.map(|ledger| ledger.entry)))
    }

    /// The session's number, with which its chain begins. Numbers are counted up and never used twice.
    pub fn ordinal(&self, id: &str) -> Result<Option<u64>> {
        SessionKey::new(id)?;
        self.run(|store| Ok(find(&store.connection, id)?.map(|ledger| ledger.number.cast_unsigned())))
    }

    /// Visits the matching sessions, newest first, one at a time. Sessions without our tag are skipped: we did
    /// not write them, and [`Store::verify_chains`] reports them.
    pub fn visit_sessions(&self, query: &SessionQuery, visit: SessionVisitor<'_>) -> Result<()> {
        let mut given: Vec<&dyn ToSql> = Vec::new();
        let mut conditions = String::from("TRUE");
        for (condition, value) in [
            (" AND project = ?", query.project.as_ref().map(|project| project as &dyn ToSql)),
            (" AND updated_ms >= ?", query.since_ms.as_ref().map(|since| since as &dyn ToSql)),
            (" AND updated_ms <= ?", query.until_ms.as_ref().map(|until| until as &dyn ToSql)),
        ] {
            if let Some(value) = value {
                conditions.push_str(condition);
                given.push(value);
            }
        }
        self.run(|store| {
            let asked = select(&format!("WHERE {conditions} ORDER BY updated_ms DESC, session_id DESC"));
            let mut statement = store.connection.prepare_cached(&asked)?;
            let mut rows = statement.query(&given[..])?;
            let mut left = query.limit.unwrap_or(usize::MAX);
            while let Some(row) = rows.next()?.filter(|_| left > 0) {
                if !is_ours(&store.seal, row)? {
                    continue;
                }
                left -= 1;
                if visit(Ledger::read(row)?.entry).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    /// The matching sessions, newest first.
    pub fn list_sessions(&self, query: &SessionQuery) -> Result<Vec<SessionRow>> {
        let mut found = Vec::new();
        self.visit_sessions(query, &mut |session| {
            found.push(session);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// The newest session of a project, except one id.
    pub fn latest_of_project(&self, project: &str, excluding: Option<&str>) -> Result<Option<SessionRow>> {
        self.run(|store| {
            let asked =
                select("WHERE project = ? AND session_id <> ? ORDER BY updated_ms DESC, session_id DESC");
            let mut statement = store.connection.prepare_cached(&asked)?;
            let mut rows = statement.query(params![project, excluding.unwrap_or_default()])?;
            while let Some(row) = rows.next()? {
                if is_ours(&store.seal, row)? {
                    return Ledger::read(row).map(|ledger| Some(ledger.entry));
                }
            }
            Ok(None)
        })
    }

    /// The states of the newest sessions of a project, newest first. The session `excluding` and invalid states are
    /// left out.
    pub fn newest_states(&self, project: &str, excluding: &str, most: usize) -> Result<Vec<Vec<u8>>> {
        self.run(|store| {
            let asked =
                "SELECT session_id, state FROM sessions JOIN states ON states.session = sessions.number
                WHERE project = ? AND session_id <> ? AND state IS NOT NULL
                ORDER BY updated_ms DESC, session_id DESC LIMIT ?";
            let mut statement = store.connection.prepare_cached(asked)?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![project, excluding, most], |row| {
                let (id, state): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
                Ok(store.seal.disclose(STATE, &id, &state).map(<[u8]>::to_vec))
            })?;
            rows.filter_map(rusqlite::Result::transpose).collect()
        })
    }

    /// The projects that sessions count for. Tags are not checked: these are only names to choose from.
    pub fn projects(&self) -> Result<Vec<String>> {
        self.texts("SELECT DISTINCT project FROM sessions WHERE project <> '' ORDER BY project", &[])
    }

    /// The ids of the sessions that continue this one.
    pub fn successors(&self, id: &str) -> Result<Vec<String>> {
        self.texts("SELECT session_id FROM sessions WHERE previous_id = ? ORDER BY session_id", &[&id])
    }

    /// Ids with this prefix: one is a match, more are ambiguous. At most six, which is more than anybody is shown.
    pub fn ids_beginning(&self, beginning: &str) -> Result<Vec<String>> {
        // Texts compare by their bytes, and no character sorts after this one.
        let end = format!("{beginning}\u{10FFFF}");
        let asked = "SELECT session_id FROM sessions WHERE session_id >= ? AND session_id < ?
            ORDER BY session_id LIMIT 6";
        self.texts(asked, &[&beginning, &end])
    }

    fn texts(&self, asked: &str, given: &[&dyn ToSql]) -> Result<Vec<String>> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(asked)?;
            statement.query_map(given, |row| row.get(0))?.collect()
        })
    }

    /// How much is stored.
    pub fn stats(&self) -> Result<Stats> {
        let (disk_bytes, used_bytes) = self.sizes()?;
        self.run(|store| {
            let count = |asked: &str| {
                store.connection.query_row(asked, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
            };
            Ok(Stats {
                sessions: count("SELECT count(*) FROM sessions")?,
                records: count("SELECT coalesce(sum(records), 0) FROM sessions")?,
                calls: count("SELECT count(*) FROM calls")?,
                disk_bytes,
                used_bytes,
            })
        })
    }

    /// Bytes on disk, and how many of them are in use: the rest is reused before the file grows.
    pub fn sizes(&self) -> Result<(u64, u64)> {
        self.run(Self::sizes_of_file)
    }

    /// The bytes of the records of each session of a project, compressed.
    pub fn bytes_of_sessions(&self, project: &str) -> Result<HashMap<String, u64>> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT s.session_id, sum(length(b.content)) FROM sessions s JOIN blocks b ON b.session = s.number
                WHERE s.project = ? GROUP BY s.number",
            )?;
            let rows =
                statement.query_map([project], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
            rows.collect()
        })
    }

    pub(super) fn sizes_of_file(&self) -> rusqlite::Result<(u64, u64)> {
        let asked = "SELECT page_count * page_size, (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_page_size, pragma_freelist_count";
        self.connection.query_row(asked, [], |row| {
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
        })
    }
}
