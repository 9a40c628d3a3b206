//! The store as far as a step needs it: not at all, looked at, or opened.

use super::Sessions;
use crate::error::{Result, StorageError};
use crate::store::{Glance, LmdbStore, SessionStore};

/// A store that is reached for when something is asked of it.
pub(super) struct Reach<'a> {
    sessions: &'a Sessions,
    at_ms: i64,
    seen: Option<Glance>,
    open: &'a mut Option<LmdbStore>,
}

impl<'a> Reach<'a> {
    /// The store of these sessions; `open` keeps it for the next step once it is open.
    pub(super) fn new(sessions: &'a Sessions, at_ms: i64, open: &'a mut Option<LmdbStore>) -> Self {
        Self { sessions, at_ms, seen: None, open }
    }

    /// Asks something, if there is a store. It is only opened for that where a glance does not do.
    pub(super) fn look<T>(&mut self, ask: impl Fn(Option<&dyn SessionStore>) -> Result<T>) -> Result<T> {
        if self.open.is_none() {
            if self.seen.is_none() {
                // The first session of a project needs no store yet.
                if !self.sessions.has_store() {
                    return ask(None);
                }
                self.seen = self.sessions.folder.glance().ok();
            }
            if let Some(glance) = &self.seen
                && let Ok(answer) = ask(Some(glance))
            {
                return Ok(answer);
            }
        }
        ask(Some(self.opened()?))
    }

    /// The store, open.
    pub(super) fn opened(&mut self) -> Result<&LmdbStore> {
        if self.open.is_none() {
            self.seen = None;
            *self.open = Some(self.sessions.folder.open_store(self.at_ms)?);
        }
        self.open.as_ref().ok_or_else(|| StorageError::InvalidData("no store".to_owned()))
    }
}
