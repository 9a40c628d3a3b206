//! Loads a session: from its state file, else from the store, and then applies every entry of its journal.

use std::ops::ControlFlow;

use context_graph_core::session::Session;
use context_graph_secrets::Memory;

use super::Sessions;
use super::codec::{decode_record, decode_session, encode_session, memory_of, remembering};
use super::lazy_store::LazyStore;
use super::lost::Ahead;
use crate::error::{Result, StorageError};
use crate::live::{JournalEntry, LiveState, Position, SessionLock, Tail};
use crate::store::{SessionRow, Store};

impl Sessions {
    /// The session from its state file, else from the store, else a new one.
    pub(super) fn load(
        &self,
        lock: &mut SessionLock<'_>,
        session_id: &str,
        at_ms: i64,
        store: &mut LazyStore<'_>,
    ) -> Result<Loaded> {
        self.load_by(lock, session_id, at_ms, || {
            store.look(|store| store.map_or(Ok(None), |store| stored(store, session_id)))
        })
    }

    /// The same, with a function that asks the store.
    pub(super) fn load_by(
        &self,
        lock: &mut SessionLock<'_>,
        session_id: &str,
        at_ms: i64,
        ask_store: impl FnOnce() -> Result<Option<(Session, Option<Position>)>>,
    ) -> Result<Loaded> {
        let known = lock.read_state()?;
        self.load_from(lock, known, session_id, at_ms, ask_store)
    }

    /// The same, with the state file already read.
    pub(super) fn load_from(
        &self,
        lock: &mut SessionLock<'_>,
        known: Option<LiveState>,
        session_id: &str,
        at_ms: i64,
        ask_store: impl FnOnce() -> Result<Option<(Session, Option<Position>)>>,
    ) -> Result<Loaded> {
        if let Some(state) = known
            && let Ok(session) = decode_session(state.payload())
        {
            let memory = memory_of(state.payload());
            return Ok(Loaded { session, applied: Some(state.applied), unread: None, ahead: None, memory });
        }
        let memory = Memory::default();
        let unfit = lock.take_unfit();
        let unread = match ask_store() {
            Ok(Some((session, applied))) => {
                let ahead = Ahead::of(unfit, applied);
                return Ok(Loaded { session, applied, unread: None, ahead, memory });
            }
            Ok(None) => None,
            Err(error) if error.can_wait() => Some(error),
            Err(error) => return Err(error),
        };
        let session = Session::new(session_id, self.project(), at_ms);
        let ahead = if unread.is_none() { Ahead::of(unfit, None) } else { None };
        Ok(Loaded { session, applied: None, unread, ahead, memory })
    }
}

/// A loaded session, and its position in the journal.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) applied: Option<Position>,
    /// Why the store could not say whether it has the session. The loaded session then contains only the
    /// journal: it may be used for an answer, but must not be stored.
    pub(super) unread: Option<StorageError>,
    /// A state file that contains more than the journal and the store.
    pub(super) ahead: Option<Ahead>,
    /// The secrets that were recognised in it. They are kept only in its live files.
    pub(super) memory: Memory,
}

impl Loaded {
    /// Applies another process's entry, and adds the secrets that were recognised with it.
    pub(super) fn apply(&mut self, entry: &JournalEntry<'_>) {
        self.memory.merge(&memory_of(entry.payload));
        if let Some(at_ms) = apply(&mut self.session, entry) {
            self.saw(at_ms);
        }
    }

    /// Applies all entries of a tail.
    pub(super) fn apply_all(&mut self, tail: &Tail) {
        for entry in tail.entries() {
            self.apply(&entry);
        }
        self.applied = Some(tail.end());
    }

    /// The session encoded for its live files.
    pub(super) fn live_bytes(&self) -> Result<Vec<u8>> {
        encode_session(&self.session).map(|session| self.with_memory(session))
    }

    /// An encoded session as its live files have it.
    pub(super) fn with_memory(&self, session: Vec<u8>) -> Vec<u8> {
        remembering(&self.memory.to_bytes(), session)
    }

    /// If there is a state file that is ahead, counts an entry of this time that remains in the journal.
    pub(super) fn saw(&mut self, at_ms: i64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.saw(at_ms);
        }
    }
}

/// Reads a session from the store. If its state is lost or does not decode, it is rebuilt from its records.
pub(super) fn stored(store: &Store, session_id: &str) -> Result<Option<(Session, Option<Position>)>> {
    let (snapshot, state) = store.snapshot_and_state(session_id)?.unzip();
    let Some(entry) = store.session(session_id)? else { return Ok(None) };
    let session = match state.flatten().map(|bytes| decode_session(&bytes)) {
        Some(Ok(session)) => session,
        None | Some(Err(StorageError::InvalidData(_))) => session_from_records(store, &entry)?,
        Some(Err(error)) => return Err(error),
    };
    let snapshot = snapshot.unwrap_or_else(|| session.snapshot.clone());
    Ok(Some((Session { snapshot, ..session }, entry.folded_to)))
}

/// A session from its records alone.
pub(crate) fn session_from_records(store: &Store, entry: &SessionRow) -> Result<Session> {
    let project = entry.project.clone().unwrap_or_default();
    let mut session: Option<Session> = None;
    store.visit_log(&entry.session_id, 1, &mut |record| {
        if let Some(record) = record.content.and_then(|content| decode_record(content.bytes).ok())
            && let Ok(event) = record.event()
        {
            let session =
                session.get_or_insert_with(|| Session::new(&entry.session_id, &project, record.at_ms));
            session.step(&record, &event);
        }
        ControlFlow::Continue(())
    })?;
    let mut session = session.unwrap_or_else(|| Session::new(&entry.session_id, project, entry.timestamp_ms));
    if session.state.ended_ms.is_some() {
        session.saved();
    }
    Ok(session)
}

/// Applies another process's entry, and returns its time. An entry that cannot be decoded changes nothing.
pub(super) fn apply(session: &mut Session, entry: &JournalEntry<'_>) -> Option<i64> {
    let record = decode_record(entry.payload).ok()?;
    let event = record.event().ok()?;
    session.step(&record, &event);
    Some(record.at_ms)
}
