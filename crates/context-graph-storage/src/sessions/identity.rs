//! A session's identity by itself: read and replaced, for programs that keep it elsewhere.

use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::identity_saved;

use super::Sessions;
use crate::error::{Result, StorageError};
use crate::session_identity::{SessionIdentityManager, validate};

impl Sessions {
    /// The session's identity. An unknown session gets a new one, which continues `previous` if that is given.
    pub fn load_or_create_identity(
        &self,
        session_id: &str,
        previous: Option<&str>,
        now_ms: i64,
    ) -> Result<SessionIdentitySnapshot> {
        let store = self.folder.open_store(now_ms)?;
        if let Some(view) = self.view(Some(&store), session_id)? {
            return Ok(view.session.snapshot);
        }
        let known = |id: &str| self.view(Some(&store), id).map(|view| view.is_some());
        if let Some(previous) = previous
            && !known(previous)?
        {
            return Err(StorageError::SessionNotFound(previous.to_owned()));
        }
        SessionIdentityManager::over(store, now_ms).load_or_create(session_id, previous)
    }

    /// Replaces a session's identity, and records which fields changed. A running session continues from it.
    pub fn save_identity(&self, snapshot: &SessionIdentitySnapshot, now_ms: i64) -> Result<()> {
        let session_id = snapshot.session_id.as_str();
        if let Some(previous) = &snapshot.previous_session_id {
            self.check_previous(session_id, previous, now_ms)?;
        }
        validate(snapshot)?;
        self.log_own(session_id, now_ms, |session| {
            let entry = identity_saved(&session.snapshot, snapshot);
            session.snapshot = snapshot.clone();
            entry
        })
    }

    /// Refuses a previous session that is unknown or leads back to this one. The one it already has may have
    /// been removed since.
    fn check_previous(&self, session_id: &str, previous: &str, now_ms: i64) -> Result<()> {
        let store = self.store(now_ms)?;
        let own = self.view(store.as_ref(), session_id)?;
        if own.is_some_and(|view| view.session.snapshot.previous_session_id.as_deref() == Some(previous)) {
            return Ok(());
        }
        if self.leads_back(store.as_ref(), previous, session_id)? {
            let problem = format!("previous_session_id {previous:?} leads back to this session");
            return Err(StorageError::InvalidId(problem));
        }
        match self.view(store.as_ref(), previous)? {
            Some(_) => Ok(()),
            None => Err(StorageError::SessionNotFound(previous.to_owned())),
        }
    }
}
