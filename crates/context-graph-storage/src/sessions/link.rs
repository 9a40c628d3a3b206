//! Links a starting session to the previous one.

use context_graph_core::session::{
    EventRecord, FoundBy, Link, REMEMBERED_SESSIONS, RememberedFile, Session, Work, remember,
};
use context_graph_events::claude_code::SessionSource;

use super::Sessions;
use super::codec::decode_work;
use super::lazy_store::LazyStore;
use super::load::stored;
use super::step::NotBefore;
use crate::error::{Result, StorageError};
use crate::store::Store;

/// The result of linking a starting session.
#[derive(Default)]
pub(super) struct Linked {
    pub(super) previous: Option<Session>,
    pub(super) refused_previous: Option<NotBefore>,
    pub(super) postponed: Option<StorageError>,
}

impl Sessions {
    /// The files that the project's last sessions worked on. What cannot be read is skipped: it must not stop a
    /// session from starting.
    fn earlier_files(&self, store: &Store, session_id: &str) -> Result<Vec<RememberedFile>> {
        let states = store.newest_states(&self.project(), session_id, REMEMBERED_SESSIONS)?;
        let works: Vec<(Work, String)> = states.iter().filter_map(|state| decode_work(state)).collect();
        Ok(remember(works.iter().map(|(work, project)| (work, project.as_str()))))
    }

    /// Links a starting session to the previous one: the link goes into the record of the start.
    pub(super) fn link(
        &self,
        store: &mut LazyStore<'_>,
        session_id: &str,
        source: &SessionSource,
        named: Option<String>,
        record: &mut EventRecord,
    ) -> Result<Linked> {
        let mut linked = Linked::default();
        let found = store.look(|store| {
            let Some((id, origin)) = self.find_previous(store, session_id, source, named)? else {
                return Ok(None);
            };
            let session = match store.map(|store| stored(store, &id)).transpose()?.flatten() {
                Some((session, _)) => Some(session),
                None => self.peek(&id)?,
            };
            let leads_back = self.leads_back(store, &id, session_id)?;
            let remembered = store.map(|store| self.earlier_files(store, session_id)).transpose()?;
            Ok(Some((id, origin, session, leads_back, remembered.unwrap_or_default())))
        });
        // A store that cannot be read now must not stop a session from starting.
        let found = match found {
            Err(error) if error.can_wait() => {
                linked.postponed = Some(error);
                None
            }
            found => found?,
        };
        match found {
            Some((id, FoundBy::Named, _, true, _)) => {
                linked.refused_previous = Some(NotBefore::Circle(id));
            }
            Some((.., true, _)) | None => {}
            Some((id, _, None, ..)) if !self.is_live(&id)? => {
                linked.refused_previous = Some(NotBefore::Unknown(id));
            }
            Some((id, origin, session, _, remembered)) => {
                record.remembered = remembered;
                let purpose_vector = session.as_ref().map_or([0.0; 13], |p| p.snapshot.purpose_vector);
                record.link = Some(Link { session_id: id, origin, purpose_vector });
                linked.previous = session;
            }
        }
        Ok(linked)
    }

    /// The session that a starting one continues: the named one, else for a new session the latest of the
    /// project. A resumed session continues itself and needs none. The client does not say which session was
    /// forked; the latest of the project is the best guess.
    fn find_previous(
        &self,
        store: Option<&Store>,
        session_id: &str,
        source: &SessionSource,
        named: Option<String>,
    ) -> Result<Option<(String, FoundBy)>> {
        if let Some(id) = named {
            return Ok(Some((id, FoundBy::Named)));
        }
        let origin = match source {
            SessionSource::Startup | SessionSource::Clear => FoundBy::LatestOfProject,
            SessionSource::Fork => FoundBy::Fork,
            _ => return Ok(None),
        };
        let latest = match store {
            Some(store) => store.latest_of_project(&self.project(), Some(session_id))?,
            None => None,
        };
        let stored_ms = latest.as_ref().map_or(i64::MIN, |latest| latest.timestamp_ms);
        let id = match self.latest_unstored(store, session_id, stored_ms)? {
            Some(id) => Some(id),
            None => latest.map(|latest| latest.session_id),
        };
        Ok(id.map(|id| (id, origin)))
    }

    /// The newest session that is not in the store yet, if it is newer than `than_ms`: one that was killed in
    /// its first turn.
    fn latest_unstored(
        &self,
        store: Option<&Store>,
        excluding: &str,
        than_ms: i64,
    ) -> Result<Option<String>> {
        let mut newest = None;
        for (id, _) in self.folder.live_sessions_since(than_ms)? {
            if id == excluding || store.map_or(Ok(false), |store| store.knows(&id))? {
                continue;
            }
            let Some(session) = self.peek(&id)? else { continue };
            let at_ms = session.snapshot.timestamp_ms;
            let later = at_ms > newest.as_ref().map_or(than_ms, |(_, newest_ms)| *newest_ms);
            if later && self.project_of(&session) == self.project() {
                newest = Some((id, at_ms));
            }
        }
        Ok(newest.map(|(id, _)| id))
    }
}
