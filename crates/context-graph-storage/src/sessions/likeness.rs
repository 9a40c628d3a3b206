//! How alike a session is to the one it continues.

use context_graph_core::session::Session;

use super::Sessions;
use super::codec::decode_session;
use crate::error::Result;
use crate::store::Store;

/// How many sessions of the project determine which words are common there.
const AROUND: usize = 10;

impl Sessions {
    /// The likeness of a session and the previous one, in `[0, 1]`. `None` if there is no previous one, or one
    /// of the two has done nothing yet. Computed on demand, never in a hook.
    pub fn likeness(&self, store: Option<&Store>, session: &Session) -> Result<Option<f32>> {
        let Some(previous) = &session.snapshot.previous_session_id else { return Ok(None) };
        let Some(previous) = self.view(store, previous)? else { return Ok(None) };
        let (own, before) = (&session.snapshot.session_id, &previous.session.snapshot.session_id);
        let states = match store {
            Some(store) => store.newest_states(&self.project_of(session), own, AROUND)?,
            None => Vec::new(),
        };
        let around: Vec<Session> = states
            .iter()
            .filter_map(|state| decode_session(state).ok())
            .filter(|other| other.snapshot.session_id != *before)
            .collect();
        let around: Vec<_> = around.iter().map(|other| &other.state.continuity).collect();
        Ok(session.state.continuity.likeness(&previous.session.state.continuity, &around))
    }
}
