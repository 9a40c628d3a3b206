//! The store as a step needs it: opened at the first query, and then kept open.

use super::Sessions;
use crate::error::{Result, StorageError};
use crate::store::{Patience, Store};

/// A store that is opened at the first query.
pub(super) struct Reach<'a> {
    sessions: &'a Sessions,
    patience: Patience,
    at_ms: i64,
    open: &'a mut Option<Store>,
}

impl<'a> Reach<'a> {
    /// The store of these sessions; `open` keeps it once it is open.
    pub(super) fn new(
        sessions: &'a Sessions,
        patience: Patience,
        at_ms: i64,
        open: &'a mut Option<Store>,
    ) -> Self {
        Self { sessions, patience, at_ms, open }
    }

    /// Runs a query, if there is a store: the first session of a project has none yet.
    pub(super) fn look<T>(&mut self, ask: impl FnOnce(Option<&Store>) -> Result<T>) -> Result<T> {
        if self.open.is_none() && !self.sessions.has_store() {
            return ask(None);
        }
        ask(Some(self.opened()?))
    }

    /// Ends the read transaction, so that others can write.
    pub(super) fn close(&mut self) {
        if let Some(store) = self.open.take()
            && self.sessions.ends_soon
            && store.end_look().is_ok()
        {
            // Closing SQLite takes 5 % of a hook's time, and the process is about to end.
            std::mem::forget(store);
        }
    }

    /// The open store.
    pub(super) fn opened(&mut self) -> Result<&Store> {
        if self.open.is_none() {
            *self.open = Some(self.sessions.folder.open_store_as(self.patience, self.at_ms)?);
        }
        self.open.as_ref().ok_or_else(|| StorageError::InvalidData("no store".to_owned()))
    }
}
