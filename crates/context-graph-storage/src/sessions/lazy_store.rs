//! The store as a step needs it: opened at the first query, and then kept open.

use super::Sessions;
use crate::error::{Result, StorageError};
use crate::store::{Patience, Store};

/// A store that is opened at the first query.
pub(super) struct LazyStore<'a> {
    sessions: &'a Sessions,
    patience: Patience,
    at_ms: i64,
    open: &'a mut Option<Store>,
    /// Why it could not be opened. A hook that has waited once for others does not wait again.
    failed: Option<StorageError>,
}

impl<'a> LazyStore<'a> {
    /// The store of these sessions; `open` keeps it once it is open.
    pub(super) fn new(
        sessions: &'a Sessions,
        patience: Patience,
        at_ms: i64,
        open: &'a mut Option<Store>,
    ) -> Self {
        Self { sessions, patience, at_ms, open, failed: None }
    }

    /// Runs a query, if there is a store: the first session of a project has none yet.
    pub(super) fn look<T>(&mut self, ask: impl FnOnce(Option<&Store>) -> Result<T>) -> Result<T> {
        if self.open.is_none() && !self.sessions.has_store() {
            return ask(None);
        }
        ask(Some(self.opened()?))
    }

    /// Closes the store and ends the transaction that opening it began, so that others can write.
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
        self.opened_as(self.patience)
    }

    /// The open store, to write to. If it is not open yet, the file is locked only once.
    pub(super) fn opened_to_fold(&mut self) -> Result<&Store> {
        let to_fold = if self.patience == Patience::Hook { Patience::Fold } else { self.patience };
        self.opened_as(to_fold)
    }

    fn opened_as(&mut self, patience: Patience) -> Result<&Store> {
        if self.open.is_none() {
            if let Some(error) = self.failed.as_ref().and_then(again) {
                return Err(error);
            }
            match self.sessions.folder.open_store_as(patience, self.at_ms) {
                Ok(store) => *self.open = Some(store),
                Err(error) => {
                    self.failed = again(&error);
                    return Err(error);
                }
            }
        }
        self.open.as_ref().ok_or_else(|| StorageError::InvalidData("no store".to_owned()))
    }
}

/// A copy of an error that came after a wait. Other errors come at once, so trying again costs nothing.
fn again(error: &StorageError) -> Option<StorageError> {
    match error {
        StorageError::Busy { path } => Some(StorageError::Busy { path: path.clone() }),
        StorageError::Path { path, problem, next_step } => {
            Some(StorageError::Path { path: path.clone(), problem: problem.clone(), next_step })
        }
        _ => None,
    }
}
