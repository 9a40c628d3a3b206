//! The line of previous sessions: it must not contain a cycle.

use super::Sessions;
use crate::error::Result;
use crate::store::Store;

/// No real line is longer, and the walk must end.
const LONGEST: usize = 10_000;

impl Sessions {
    /// Whether `id` is the session itself, or one that continues it.
    pub(super) fn leads_back(&self, store: Option<&Store>, id: &str, session_id: &str) -> Result<bool> {
        if id == session_id {
            return Ok(true);
        }
        // No session can continue one that did not exist before.
        let stored = store.map(|store| store.session(session_id)).transpose()?.flatten();
        if stored.is_none() && self.peek(session_id)?.is_none() {
            return Ok(false);
        }
        let mut before = self.before(store, id)?;
        for _ in 0..LONGEST {
            match before {
                Some(id) if id == session_id => return Ok(true),
                Some(id) => before = self.before(store, &id)?,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The previous session, from the session's own files, else from the store.
    fn before(&self, store: Option<&Store>, id: &str) -> Result<Option<String>> {
        if let Some(session) = self.peek(id)? {
            return Ok(session.snapshot.previous_session_id);
        }
        let stored = store.map(|store| store.session(id)).transpose()?.flatten();
        Ok(stored.and_then(|entry| entry.previous_session_id))
    }
}
