//! Forgets a session: first in the heads, then in the store, then its live files. If the store fails, nothing is removed. If
//! the process dies in between, the store knows which journal is forgotten, and the next fold stores only what came later.

use context_graph_core::session::Session;
use context_graph_secrets::Memory;

use super::Sessions;
use super::codec::decode_record;
use super::load::Loaded;
use crate::error::Result;
use crate::live::{Folded, Held, Position, SessionLock};
use crate::session_key::SessionKey;
use crate::store::{Removed, Store, Why};

impl Sessions {
    /// Removes a session: log, everything derived from it, and live files. A tombstone says that it existed. Also says
    /// whether there were live files.
    pub fn forget(
        &self,
        store: Option<&Store>,
        session_id: &str,
        at_ms: i64,
        why: Why,
    ) -> Result<(Removed, bool)> {
        let live = self.folder.session(session_id)?;
        // Held until the files are gone, so that no hook folds them meanwhile. Without files too, so that no hook resumes
        // the session from what is being removed.
        let mut held = live.hold()?;
        let up_to = match &mut held {
            Held::Live(lock) => {
                let end = lock.entries_since(None)?.end();
                // The position in the store must not point past the part of the journal that survives a power cut:
                // new events would be before that position, and would not be stored.
                lock.sync()?;
                Some(end)
            }
            Held::Closed(_) => None,
        };
        let removed = if let Some(store) = store {
            self.forget_stored(store, session_id, at_ms, why, up_to)?
        } else {
            self.note_removal(session_id);
            Removed::default()
        };
        self.folder.quarantine().forget(SessionKey::new(session_id)?.as_str())?;
        if let Held::Live(lock) = &mut held {
            lock.discard()?;
        }
        if let (Some(store), Some(up_to)) = (store, up_to) {
            // No other journal has this generation, so the note does no harm if it stays.
            let _ = store.live_files_are_gone(up_to);
        }
        Ok((removed, up_to.is_some()))
    }

    /// Removes a session from the store. Its removal is recorded in the heads first: if the process dies in between,
    /// there is a session that is not expected, but none is missing. `up_to` is the end of its journal, if any.
    pub(super) fn forget_stored(
        &self,
        store: &Store,
        session_id: &str,
        at_ms: i64,
        why: Why,
        up_to: Option<Position>,
    ) -> Result<Removed> {
        self.note_removal(session_id);
        store.forget_leaving(session_id, at_ms, why, up_to).inspect_err(|_| {
            // What is still there is expected again.
            if let Ok(entry) = store.session(session_id)
                && (entry.is_some() || up_to.is_some())
            {
                self.note_head(entry.as_ref(), session_id, up_to);
            }
        })
    }

    /// Folds what came after a session was forgotten, as a new session. Without anything new, its files are removed.
    pub(super) fn fold_new_part(
        &self,
        lock: &mut SessionLock<'_>,
        store: &Store,
        state: &mut Loaded,
        over: bool,
        up_to: Position,
    ) -> Result<Option<Folded>> {
        let tail = lock.entries_since(Some(up_to))?;
        let first = tail.entries().find_map(|entry| decode_record(entry.payload).ok());
        let Some(first) = first else {
            self.note_removal(lock.session_id());
            lock.discard()?;
            let _ = store.live_files_are_gone(up_to);
            return Ok(None);
        };
        let mut session = Session::new(lock.session_id(), self.project_of(&state.session), first.at_ms);
        session.snapshot.crisis_threshold = state.session.snapshot.crisis_threshold;
        session.state.watch.below = state.session.state.watch.below;
        (state.session, state.memory) = (session, Memory::default());
        state.apply_all(&tail);
        // Before the fold: once the new session is stored, the store no longer refuses the state of the forgotten one.
        lock.drop_state()?;
        let folded = self.fold_once(lock, store, state, over, Some(up_to))?;
        let _ = store.live_files_are_gone(up_to);
        Ok(Some(folded))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use context_graph_events::Event;
    use rusqlite::Connection;
    use serde_json::{Value, json};

    use super::*;
    use crate::error::StorageError;
    use crate::paths::StateFolder;
    use crate::secret::UserFolder;
    use crate::sessions::load::stored;
    use crate::sessions::{Arrival, Durability, Stepped};
    use crate::store::{DATABASE, Patience, SessionQuery};

    fn sessions(place: &tempfile::TempDir) -> Sessions {
        let project = place.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let user = UserFolder::new(place.path().join("private"));
        Sessions::new(StateFolder::open_or_create(&project, None, &user).unwrap())
    }

    fn try_step(sessions: &Sessions, at_ms: i64, name: &str, own: &Value) -> Result<Stepped> {
        let mut payload =
            json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/w"});
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let event = Event::from_text(&payload.to_string()).unwrap();
        let durability = Durability::of(&event);
        let arrival = Arrival {
            event,
            at_ms,
            previous_session_id: None,
            took_us: 1,
            ruling: None,
            crisis_threshold: 0.5,
            told_below: 0.5,
            title: None,
        };
        sessions.step("s", arrival, durability)
    }

    fn step(sessions: &Sessions, at_ms: i64, name: &str, own: &Value) {
        let stepped = try_step(sessions, at_ms, name, own).unwrap();
        assert!(stepped.postponed.is_none() && stepped.lost.is_none(), "{stepped:?}");
    }

    /// A session with one turn in the store and a prompt in its journal.
    fn worked_in(sessions: &Sessions) {
        step(sessions, 1, "UserPromptSubmit", &json!({"prompt": "first"}));
        step(sessions, 2, "Stop", &json!({"stop_hook_active": false}));
        step(sessions, 3, "UserPromptSubmit", &json!({"prompt": "second"}));
    }

    #[test]
    fn a_store_that_fails_keeps_the_whole_session() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        worked_in(&sessions);
        let newest = || sessions.folder().heads().read().unwrap().pop().unwrap();
        let expected = newest();
        let store = sessions.store_as(Patience::Hook, 4).unwrap().unwrap();
        let held = Connection::open(sessions.folder().database().join(DATABASE)).unwrap();
        held.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = sessions.forget(Some(&store), "s", 5, Why::Forgotten);
        assert!(matches!(refused, Err(StorageError::Busy { .. })), "{refused:?}");
        let kept = newest();
        assert_eq!((kept.is_gone, kept.records, &kept.chain), (false, 2, &expected.chain));
        drop((held, store));
        let store = sessions.store(6).unwrap();
        let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
        assert_eq!((view.stored_records, view.unfolded.len()), (2, 1));
        assert_eq!(sessions.check_heads(store.as_ref()).unwrap().1, None);
        let (removed, live) = sessions.forget(store.as_ref(), "s", 7, Why::Forgotten).unwrap();
        assert_eq!((removed.records, live), (2, true));
        assert!(sessions.list(store.as_ref(), &SessionQuery::default()).unwrap().is_empty());
    }

    /// The state in which a process leaves a session if it dies before it has removed the live files.
    fn half_forgotten(sessions: &Sessions) {
        let store = sessions.store(4).unwrap().unwrap();
        let up_to =
            sessions.folder().session("s").unwrap().lock().unwrap().entries_since(None).unwrap().end();
        sessions.forget_stored(&store, "s", 4, Why::Forgotten, Some(up_to)).unwrap();
        assert_eq!(sessions.check_heads(Some(&store)).unwrap().1, None);
    }

    #[test]
    fn a_session_that_is_no_longer_stored_is_not_expected_whenever_the_process_dies() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        step(&sessions, 1, "UserPromptSubmit", &json!({"prompt": "first"}));
        step(&sessions, 2, "SessionEnd", &json!({"reason": "exit"}));
        let store = sessions.store(3).unwrap().unwrap();
        sessions.forget_stored(&store, "s", 3, Why::Age, None).unwrap();
        assert_eq!(sessions.check_heads(Some(&store)).unwrap().1, None);
    }

    /// A half-forgotten session with one turn in the store: either with a prompt in its journal, or with an empty
    /// journal, so that only the state file still knows it.
    fn half_forgotten_after_a_turn(sessions: &Sessions, has_unfolded: bool) {
        worked_in(sessions);
        if !has_unfolded {
            step(sessions, 4, "Stop", &json!({"stop_hook_active": false}));
        }
        half_forgotten(sessions);
    }

    #[test]
    fn what_an_interrupted_forget_left_behind_is_not_stored_again() {
        for has_unfolded in [true, false] {
            let place = tempfile::tempdir().unwrap();
            let sessions = sessions(&place);
            half_forgotten_after_a_turn(&sessions, has_unfolded);
            let put_away = sessions.put_away_silent(&mut None, Duration::ZERO, 5, &mut |_, _| {}).unwrap();
            assert!(put_away.is_empty(), "{put_away:?}");
            let store = sessions.store(6).unwrap();
            assert!(sessions.list(store.as_ref(), &SessionQuery::default()).unwrap().is_empty());
            assert!(!sessions.is_live("s").unwrap());
            assert_eq!(store.as_ref().unwrap().tombstones().unwrap().len(), 1);
            // The id is free again.
            worked_in(&sessions);
            let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
            assert_eq!((view.stored_records, view.unfolded.len()), (2, 1));
        }
    }

    #[test]
    fn a_session_that_goes_on_after_an_interrupted_forget_begins_anew() {
        for has_unfolded in [true, false] {
            let place = tempfile::tempdir().unwrap();
            let sessions = sessions(&place);
            half_forgotten_after_a_turn(&sessions, has_unfolded);
            step(&sessions, 5, "UserPromptSubmit", &json!({"prompt": "third"}));
            step(&sessions, 6, "Stop", &json!({"stop_hook_active": false}));
            let store = sessions.store(7).unwrap();
            let texts: Vec<String> = sessions
                .records(store.as_ref(), "s")
                .unwrap()
                .into_iter()
                .map(|(_, it)| it.payload)
                .collect();
            assert!(texts.len() == 2 && texts[0].contains("third") && texts[1].contains("Stop"), "{texts:?}");
            let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
            let stored = stored(store.as_ref().unwrap(), "s").unwrap().unwrap().0;
            for state in [&view.session.state, &stored.state] {
                assert_eq!(state.work.requests.first, "third");
                assert_eq!((state.counters.prompts, state.started_ms), (1, 5));
            }
            step(&sessions, 8, "Stop", &json!({"stop_hook_active": false}));
            assert_eq!(sessions.records(store.as_ref(), "s").unwrap().len(), 3);
            assert_eq!(sessions.check_heads(store.as_ref()).unwrap().1, None);
            assert_eq!(store.unwrap().verify_chains(&mut |_| {}).unwrap().first_break, None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_dies_while_it_removes_the_live_files_causes_no_loss() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        worked_in(&sessions);
        half_forgotten(&sessions);
        let live = sessions.folder().session("s").unwrap();
        let mut lock = live.lock().unwrap();
        // A folder in the journal's place cannot be removed like a file.
        let journal = sessions.folder().live_folder().join("s.journal");
        std::fs::remove_file(&journal).unwrap();
        std::fs::create_dir(&journal).unwrap();
        assert!(lock.discard().is_err());
        drop(lock);
        std::fs::remove_dir(&journal).unwrap();
        assert!(journal.with_extension("state").exists());
        let store = sessions.store(5).unwrap();
        assert_eq!(sessions.check_journals(store.as_ref(), Vec::new(), 5).unwrap().1, []);
        step(&sessions, 6, "UserPromptSubmit", &json!({"prompt": "third"}));
        step(&sessions, 7, "Stop", &json!({"stop_hook_active": false}));
        let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
        assert_eq!((view.stored_records, view.session.state.work.requests.first.as_str()), (2, "third"));
        assert!(!sessions.folder().quarantine().folder().exists());
    }

    #[test]
    fn what_came_after_an_interrupted_forget_is_kept_if_a_power_cut_took_the_end_of_the_journal() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        worked_in(&sessions);
        let journal = sessions.folder().live_folder().join("s.journal");
        let short = std::fs::read(&journal).unwrap();
        step(&sessions, 4, "UserPromptSubmit", &json!({"prompt": "long ".repeat(1000)}));
        half_forgotten(&sessions);
        std::fs::write(&journal, short).unwrap();
        assert!(
            try_step(&sessions, 5, "UserPromptSubmit", &json!({"prompt": "third"})).unwrap().lost.is_some()
        );
        step(&sessions, 6, "Stop", &json!({"stop_hook_active": false}));
        let store = sessions.store(7).unwrap();
        let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
        assert!(view.unfolded.is_empty());
        let records = sessions.records(store.as_ref(), "s").unwrap();
        for name in ["third", "EventsLost", "Stop"] {
            assert!(records.iter().any(|(_, record)| record.payload.contains(name)), "{name}: {records:?}");
        }
    }

    #[test]
    fn no_hook_resumes_a_session_that_is_being_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let [sessions, forgetting] = [&place; 2].map(sessions);
        step(&sessions, 1, "UserPromptSubmit", &json!({"prompt": "first"}));
        step(&sessions, 2, "SessionEnd", &json!({"reason": "exit"}));
        let store = sessions.store_as(Patience::Hook, 3).unwrap().unwrap();
        let busy = Connection::open(sessions.folder().database().join(DATABASE)).unwrap();
        busy.execute_batch("BEGIN IMMEDIATE").unwrap();
        let forgotten =
            std::thread::spawn(move || forgetting.forget(Some(&store), "s", 4, Why::Forgotten).is_ok());
        // A hook would wait for this lock.
        let state = sessions.folder().live_folder().join("s.state");
        let is_held = || {
            let file = std::fs::File::options().read(true).write(true).open(&state);
            file.is_ok_and(|file| matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)))
        };
        while !is_held() {
            assert!(!forgotten.is_finished());
            std::thread::yield_now();
        }
        busy.execute_batch("ROLLBACK").unwrap();
        assert!(forgotten.join().unwrap());
        assert!(!state.exists());
        step(&sessions, 5, "SessionStart", &json!({"source": "resume"}));
        assert_eq!(sessions.peek("s").unwrap().unwrap().state.counters.prompts, 0);
    }

    #[test]
    fn a_session_that_was_worked_in_since_it_was_listed_is_not_pruned() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        step(&sessions, 1, "UserPromptSubmit", &json!({"prompt": "first"}));
        step(&sessions, 2, "SessionEnd", &json!({"reason": "exit"}));
        let store = sessions.store(3).unwrap().unwrap();
        let listed = store.session("s").unwrap().unwrap();
        step(&sessions, 4, "SessionStart", &json!({"source": "resume"}));
        step(&sessions, 5, "SessionEnd", &json!({"reason": "exit"}));
        let now = store.session("s").unwrap().unwrap();
        let mut pruned = Vec::new();
        sessions.prune_one(&store, &listed, 6, Why::Age, &mut pruned).unwrap();
        assert_eq!((store.session("s").unwrap().as_ref(), pruned.len()), (Some(&now), 0));
        sessions.prune_one(&store, &now, 7, Why::Age, &mut pruned).unwrap();
        assert_eq!((store.session("s").unwrap(), pruned.len()), (None, 1));
        let left = std::fs::read_dir(sessions.folder().live_folder()).unwrap();
        assert!(
            left.map(|file| file.unwrap().file_name()).all(|name| !name.to_string_lossy().starts_with("s."))
        );
    }

    #[test]
    fn the_cache_of_a_forgotten_session_is_gone_before_the_new_one_is_stored() {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(&place);
        half_forgotten_after_a_turn(&sessions, false);
        step(&sessions, 5, "UserPromptSubmit", &json!({"prompt": "third"}));
        assert!(sessions.peek("s").unwrap().is_some());
        // The key of the new session's first turn is already used, so nothing is stored.
        let store = Connection::open(sessions.folder().database().join(DATABASE)).unwrap();
        store.execute("INSERT INTO turns (session, seq, at_ms, prompt) VALUES (2, 1, 1, '')", []).unwrap();
        let refused = try_step(&sessions, 6, "Stop", &json!({"stop_hook_active": false}));
        assert!(matches!(refused, Err(StorageError::Database(_))), "{refused:?}");
        assert!(sessions.peek("s").unwrap().is_none());
        store.execute("DELETE FROM turns", []).unwrap();
        step(&sessions, 7, "Stop", &json!({"stop_hook_active": false}));
        let store = sessions.store(8).unwrap();
        let view = sessions.view(store.as_ref(), "s").unwrap().unwrap();
        assert_eq!((view.stored_records, view.session.state.work.requests.first.as_str()), (3, "third"));
    }
}
