//! Identities of sessions in a store: load, change, link, end. `session load --create` uses it; hooks go through
//! [`crate::sessions`].

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use context_graph_core::gwt::session_identity::types::{KURAMOTO_N, SessionIdentitySnapshot};

use crate::error::Result;
pub use crate::error::StorageError;
use crate::session_key::SessionKey;
use crate::store::{FoldBatch, Store, StoreOptions};

/// Snapshots in a store, with the last used one cached.
///
/// Every change is one transaction, so two processes never lose each other's update.
#[derive(Debug)]
pub struct SessionIdentityManager {
    store: Store,
    cache: Option<SessionIdentitySnapshot>,
    now_ms: i64,
}

impl SessionIdentityManager {
    /// Opens or creates the database in the folder `path`. New sessions get their time from the clock; see
    /// [`Self::open_at`] for callers that pass the time.
    #[expect(clippy::disallowed_methods, reason = "for callers without a clock of their own")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::open_at(path, i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
    }

    /// Opens or creates the database in the folder `path`, at the given time.
    pub fn open_at(path: impl AsRef<Path>, now_ms: i64) -> Result<Self> {
        Ok(Self::over(Store::open(&StoreOptions::new(path.as_ref(), now_ms))?, now_ms))
    }

    /// Manages the snapshots of `store`, at the given time.
    pub fn over(store: Store, now_ms: i64) -> Self {
        Self { store, cache: None, now_ms }
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Loads the session's snapshot or creates one. A previous session is linked if the session has none yet.
    pub fn load_or_create(
        &mut self,
        session_id: &str,
        previous_session_id: Option<&str>,
    ) -> Result<SessionIdentitySnapshot> {
        if let Some(previous) = previous_session_id {
            SessionKey::new(previous)?;
        }
        let stored = self.store.snapshot(session_id)?;
        let complete =
            stored.filter(|found| previous_session_id.is_none() || found.previous_session_id.is_some());
        if let Some(found) = complete {
            return Ok(self.remember(found));
        }
        let now_ms = self.now_ms;
        let snapshot = self.store.update(session_id, &mut |stored| {
            let mut snapshot =
                stored.unwrap_or_else(|| SessionIdentitySnapshot::with_timestamp(session_id, now_ms));
            if snapshot.previous_session_id.is_none() {
                snapshot.previous_session_id = previous_session_id.map(str::to_owned);
            }
            Ok(FoldBatch::of(snapshot))
        })?;
        Ok(self.remember(snapshot))
    }

    /// Stores a snapshot as it is.
    pub fn save(&mut self, snapshot: &SessionIdentitySnapshot) -> Result<()> {
        validate(snapshot)?;
        self.store.commit_fold(&FoldBatch::of(snapshot.clone()))?;
        self.remember(snapshot.clone());
        Ok(())
    }

    /// Appends a purpose vector to the trajectory and moves the identity continuity by `ic_delta`, within `[0, 1]`.
    pub fn update_ic_and_trajectory(
        &mut self,
        session_id: &str,
        purpose_vector: [f32; KURAMOTO_N],
        ic_delta: f32,
    ) -> Result<SessionIdentitySnapshot> {
        if !ic_delta.is_finite() || purpose_vector.iter().any(|alignment| !alignment.is_finite()) {
            return Err(StorageError::InvalidData("a purpose vector and its IC must be finite".into()));
        }
        let now_ms = self.now_ms;
        self.change(session_id, |mut snapshot| {
            let ic = snapshot.last_ic + ic_delta;
            snapshot.update_ic_and_trajectory(purpose_vector, ic);
            snapshot.timestamp_ms = snapshot.timestamp_ms.max(now_ms);
            FoldBatch::of(snapshot)
        })
    }

    /// The snapshot last loaded or stored, without a database query.
    pub fn get_cached(&self) -> Option<&SessionIdentitySnapshot> {
        self.cache.as_ref()
    }

    /// Links a session to the previous one and returns how alike their stored purposes are.
    pub fn link_sessions(&mut self, current_id: &str, previous_id: &str) -> Result<f32> {
        if current_id == previous_id {
            return Err(StorageError::InvalidData(format!("session {current_id} cannot continue itself")));
        }
        let previous = self.store.snapshot(previous_id)?;
        let previous = previous.ok_or_else(|| StorageError::SessionNotFound(previous_id.to_owned()))?;
        let linked = self.change(current_id, |mut snapshot| {
            snapshot.link(previous_id, &previous.purpose_vector);
            FoldBatch::of(snapshot)
        })?;
        Ok(linked.cross_session_ic)
    }

    /// Stores that the session has ended after `duration_ms`; everything else stays.
    pub fn persist_final(&mut self, session_id: &str, duration_ms: u64) -> Result<SessionIdentitySnapshot> {
        let now_ms = self.now_ms;
        self.change(session_id, |mut snapshot| {
            snapshot.timestamp_ms = snapshot.timestamp_ms.max(now_ms);
            FoldBatch::ended(snapshot, Some(duration_ms))
        })
    }

    /// Changes a stored snapshot in one transaction.
    fn change(
        &mut self,
        session_id: &str,
        mut change: impl FnMut(SessionIdentitySnapshot) -> FoldBatch,
    ) -> Result<SessionIdentitySnapshot> {
        let snapshot = self.store.update(session_id, &mut |stored| {
            Ok(change(stored.ok_or_else(|| StorageError::SessionNotFound(session_id.to_owned()))?))
        })?;
        Ok(self.remember(snapshot))
    }

    fn remember(&mut self, snapshot: SessionIdentitySnapshot) -> SessionIdentitySnapshot {
        self.cache = Some(snapshot.clone());
        snapshot
    }
}

/// Measured values must be finite, or they would spoil every mean they go into.
pub(crate) fn validate(snapshot: &SessionIdentitySnapshot) -> Result<()> {
    let Some(field) = snapshot.first_invalid_field() else { return Ok(()) };
    let problem = format!("{field} of session {} is out of range or not finite", snapshot.session_id);
    Err(StorageError::InvalidData(problem))
}
