//! Records that the user knows about a loss.

use context_graph_core::session::{EventsLost, loss_acknowledged};

use super::lost::{DAMAGED, Loss, whose};
use super::{Sessions, forget_losses};
use crate::error::Result;
use crate::session_key::SessionKey;
use crate::store::{SessionQuery, Store};

impl Sessions {
    /// Records that the user knows about a session's losses. Hooks no longer report them.
    pub fn acknowledge_losses(&self, session_id: &str, now_ms: i64) -> Result<()> {
        self.log_own(session_id, now_ms, |_| loss_acknowledged(session_id))?;
        forget_losses(&self.folder.live_folder(), &whose(session_id)?);
        Ok(())
    }

    /// Records the losses that a reader repaired but only saved to quarantine, and that the user knows about them.
    /// `on_record` are the losses that are on record already.
    pub fn acknowledge_saved(&self, store: Option<&Store>, on_record: &[Loss], now_ms: i64) -> Result<()> {
        let live = self.folder.live_sessions()?;
        let stored = store.map(|store| store.list_sessions(&SessionQuery::default())).transpose()?;
        let stored = stored.unwrap_or_default();
        for (key, piece) in self.folder.quarantine().losses() {
            if on_record.iter().any(|loss| loss.what.pieces.contains(&piece)) {
                continue;
            }
            let is_its = |id: &&str| SessionKey::new(id).is_ok_and(|own| own.as_str() == key);
            let stored = stored.iter().map(|entry| entry.session_id.as_str());
            let id = live.iter().map(|(id, _)| id.as_str()).chain([key.as_str()]).chain(stored).find(is_its);
            let Some(id) = id else { continue };
            if self.view(store, id)?.is_none() {
                continue;
            }
            let lost = EventsLost { lost: 0, at_least: true, how: DAMAGED.to_owned(), pieces: vec![piece] };
            self.log_own(id, now_ms, |_| lost.to_event(id))?;
            self.acknowledge_losses(id, now_ms)?;
        }
        Ok(())
    }
}
