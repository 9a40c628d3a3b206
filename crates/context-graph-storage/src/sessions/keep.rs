//! Upkeep of the store: removes sessions that exceed the limits of age and size, and folds journals that were left
//! behind. No hook waits for it.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, SystemTime};

use super::Sessions;
use super::lazy_store::LazyStore;
use crate::error::Result;
use crate::live::Held;
use crate::paths;
use crate::session_key::SessionKey;
use crate::store::{Patience, SessionQuery, SessionRow, Store, Why};

/// The limits of what is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Sessions without an event since then are removed.
    pub not_before_ms: Option<i64>,
    /// The oldest sessions are removed until there are no more than this many bytes.
    pub max_bytes: Option<u64>,
}

/// A session that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// Its id.
    pub session_id: String,
    /// How many records it had.
    pub records: u64,
    /// Why it was removed.
    pub why: Why,
}

/// The file next to the state that each upkeep writes; its modification time says when. Upkeep and removal also lock
/// it.
pub const UPKEEP_STAMP: &str = "maintained";

impl Sessions {
    /// Removes what exceeds `limits`. An open session stays, however old it is.
    pub fn prune(
        &self,
        store: &Store,
        limits: Limits,
        now_ms: i64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Pruned>> {
        let mut pruned = Vec::new();
        if let Some(not_before_ms) = limits.not_before_ms {
            let query = SessionQuery { until_ms: Some(not_before_ms - 1), ..self.own() };
            let old = store.list_sessions(&query)?;
            for (done, entry) in (0..).zip(&old) {
                progress(done, old.len() as u64);
                self.prune_one(store, entry, now_ms, Why::Age, &mut pruned)?;
            }
        }
        if let Some(max_bytes) = limits.max_bytes {
            self.prune_by_size(store, max_bytes, now_ms, progress, &mut pruned)?;
        }
        Ok(pruned)
    }

    /// Removes the oldest sessions until no more than `max_bytes` count for the limit: those of the store, or where
    /// projects share it, those of this project's records, because tables and indexes belong to all of them.
    fn prune_by_size(
        &self,
        store: &Store,
        max_bytes: u64,
        now_ms: i64,
        progress: &mut dyn FnMut(u64, u64),
        pruned: &mut Vec<Pruned>,
    ) -> Result<()> {
        let is_shared = self.folder.is_shared();
        // Read once: adding up the blocks of a large project takes long.
        let of_sessions = if is_shared { store.bytes_of_sessions(&self.project())? } else { HashMap::new() };
        let mut bytes = if is_shared { of_sessions.values().sum() } else { store.sizes()?.1 };
        if bytes <= max_bytes {
            return Ok(());
        }
        let all = store.list_sessions(&self.own())?;
        for (done, entry) in (0..).zip(all.iter().rev()) {
            progress(done, all.len() as u64);
            let before = pruned.len();
            self.prune_one(store, entry, now_ms, Why::Size, pruned)?;
            if !is_shared {
                bytes = store.sizes()?.1;
            } else if pruned.len() > before {
                bytes -= of_sessions.get(&entry.session_id).copied().unwrap_or(0);
            }
            if bytes <= max_bytes {
                break;
            }
        }
        Ok(())
    }

    /// The sessions that may be removed: all, or where projects share the store, those of this project.
    fn own(&self) -> SessionQuery {
        let project = self.folder.is_shared().then(|| self.project());
        SessionQuery { project, ..SessionQuery::default() }
    }

    /// Removes a session that was listed like this, unless somebody has worked in it since.
    pub(super) fn prune_one(
        &self,
        store: &Store,
        listed: &SessionRow,
        now_ms: i64,
        why: Why,
        pruned: &mut Vec<Pruned>,
    ) -> Result<()> {
        let session_id = listed.session_id.as_str();
        // Checked first, to avoid waiting for the lock of an open session.
        if self.is_live(session_id)? {
            return Ok(());
        }
        // Held until it is removed, so that no hook resumes it meanwhile.
        let live = self.folder.session(session_id)?;
        let Held::Closed(_held) = live.hold()? else { return Ok(()) };
        if store.session(session_id)?.is_none_or(|now| now.last_seq != listed.last_seq) {
            return Ok(());
        }
        let removed = self.forget_stored(store, session_id, now_ms, why, None)?;
        self.folder.quarantine().forget(SessionKey::new(session_id)?.as_str())?;
        pruned.push(Pruned { session_id: session_id.to_owned(), records: removed.records, why });
        Ok(())
    }

    /// Folds the journals of silent sessions into the store and removes their files. A killed session leaves
    /// such files; if it continues, it continues from the store.
    pub fn put_away_silent(
        &self,
        store: &mut Option<Store>,
        silent_for: Duration,
        now_ms: i64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<String>> {
        let mut put_away = Vec::new();
        let live = self.folder.live_sessions()?;
        let of = live.len() as u64;
        for (done, (session_id, _)) in (0..).zip(live) {
            progress(done, of);
            if self.silence(&session_id)?.is_some_and(|silence| silence >= silent_for)
                && self.put_away(store, &session_id, now_ms)?
            {
                put_away.push(session_id);
            }
        }
        Ok(put_away)
    }

    /// How long ago the session's journal was last written, by the clock of its file system.
    fn silence(&self, session_id: &str) -> Result<Option<Duration>> {
        let key = SessionKey::new(session_id)?;
        let written = |kind: &str| {
            let path = self.folder.live_folder().join(format!("{key}.{kind}"));
            fs::metadata(path).and_then(|found| found.modified()).ok()
        };
        let newest = written("journal").max(written("state"));
        Ok(newest.and_then(|at| self.file_system_now()?.duration_since(at).ok()))
    }

    /// The file system's current time. Writes the stamp and reads its modification time.
    fn file_system_now(&self) -> Option<SystemTime> {
        paths::touch(&self.folder.path().join(UPKEEP_STAMP)).ok()
    }

    fn put_away(&self, store: &mut Option<Store>, session_id: &str, now_ms: i64) -> Result<bool> {
        let live = self.folder.session(session_id)?;
        let mut lock = live.lock()?;
        let mut store = LazyStore::new(self, Patience::Command, now_ms, store);
        let mut state = self.load_whole(&mut lock, session_id, now_ms, &mut store, Vec::new(), 0)?;
        match self.fold(&mut lock, store.opened()?, &mut state, false)? {
            Some(folded) => self.finish_fold(lock, &folded, true),
            None => Ok(false),
        }
    }
}
