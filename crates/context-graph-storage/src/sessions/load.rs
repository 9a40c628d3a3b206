//! A session in hand: from its cache, else from the store, and then every entry of its journal.

use context_graph_core::session::Session;

use super::Sessions;
use super::codec::{decode_record, decode_session};
use super::lost::Ahead;
use super::reach::Reach;
use crate::error::{Result, StorageError};
use crate::live::{Entry, Position, SessionGuard};
use crate::store::Store;

impl Sessions {
    /// The session as it is known: from its state file, else from the store, else a new one.
    pub(super) fn load(
        &self,
        guard: &mut SessionGuard<'_>,
        session_id: &str,
        at_ms: i64,
        store: &mut Reach<'_>,
    ) -> Result<Loaded> {
        self.load_by(guard, session_id, at_ms, || {
            store.look(|store| store.map_or(Ok(None), |store| stored(store, session_id)))
        })
    }

    /// The same, with the store's word for it.
    pub(super) fn load_by(
        &self,
        guard: &mut SessionGuard<'_>,
        session_id: &str,
        at_ms: i64,
        ask_store: impl FnOnce() -> Result<Option<(Session, Option<Position>)>>,
    ) -> Result<Loaded> {
        if let Some(state) = guard.read_state()?
            && let Ok(session) = decode_session(state.payload())
        {
            return Ok(Loaded { session, applied: Some(state.applied), unread: None, ahead: None });
        }
        let unfit = guard.take_unfit();
        let unread = match ask_store() {
            Ok(Some((session, applied))) => {
                return Ok(Loaded { session, applied, unread: None, ahead: Ahead::of(unfit, applied) });
            }
            Ok(None) => None,
            Err(error) if error.can_wait() => Some(error),
            Err(error) => return Err(error),
        };
        let session = Session::new(session_id, self.project(), at_ms);
        let ahead = if unread.is_none() { Ahead::of(unfit, None) } else { None };
        Ok(Loaded { session, applied: None, unread, ahead })
    }
}

/// A session in hand, and how far into its journal it has come.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) applied: Option<Position>,
    /// Why the store could not say whether it knows the session. Then what is in hand is what the journal tells, to
    /// answer with and not to be kept.
    pub(super) unread: Option<StorageError>,
    /// A cache that knows of more than there is.
    pub(super) ahead: Option<Ahead>,
}

impl Loaded {
    /// Takes in an entry of somebody else's.
    pub(super) fn take_in(&mut self, entry: &Entry<'_>) {
        if let Some(at_ms) = take_in(&mut self.session, entry) {
            self.saw(at_ms);
        }
    }

    pub(super) fn saw(&mut self, at_ms: i64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.saw(at_ms);
        }
    }
}

/// A session as the store has it.
pub(super) fn stored(store: &Store, session_id: &str) -> Result<Option<(Session, Option<Position>)>> {
    let Some(snapshot) = store.snapshot(session_id)? else { return Ok(None) };
    let folded_to = store.session(session_id)?.and_then(|entry| entry.folded_to);
    let state = store.state(session_id)?.map(|bytes| decode_session(&bytes)).transpose()?;
    let session = state.unwrap_or_else(|| Session::new(session_id, "", snapshot.timestamp_ms));
    let session = Session { snapshot, ..session };
    Ok(Some((session, folded_to)))
}

/// Takes in an entry of somebody else's, and says when it came. One that cannot be read back changes nothing.
pub(super) fn take_in(session: &mut Session, entry: &Entry<'_>) -> Option<i64> {
    let record = decode_record(entry.payload).ok()?;
    let event = record.event().ok()?;
    session.step(&record, &event);
    Some(record.at_ms)
}
