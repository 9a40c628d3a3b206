//! Any changed byte in the journal of an open session is found, reported and kept on record.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use context_graph_events::Event;
use context_graph_storage::sessions::{Arrival, Durability, Loss, Sessions};
use context_graph_storage::{StateFolder, UserFolder};
use serde_json::json;

fn sessions(place: &Path) -> Sessions {
    let project = place.join("project");
    fs::create_dir_all(&project).unwrap();
    let user = UserFolder::new(place.join("private"));
    Sessions::new(StateFolder::open_or_create(&project, None, &user).unwrap())
}

fn event(id: &str, text: &str) -> Event {
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "transcript_path": "/t", "cwd": "/w",
        "prompt": text});
    Event::from_text(&payload.to_string()).unwrap()
}

fn prompt(sessions: &Sessions, id: &str, at_ms: i64, text: &str) {
    let arrival = Arrival {
        event: event(id, text),
        at_ms,
        previous_session_id: None,
        took_us: 1,
        ruling: None,
        crisis_threshold: 0.5,
        told_below: 0.5,
        title: None,
    };
    // `Durability::Start`, so that the head is written too.
    sessions.step(id, arrival, Durability::Start).unwrap();
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// Restores every file.
fn restore(folder: &Path, before: &BTreeMap<PathBuf, Vec<u8>>) {
    for path in files(folder).keys().filter(|path| !before.contains_key(*path)) {
        fs::remove_file(path).unwrap();
    }
    let now = files(folder);
    for (path, bytes) in before.iter().filter(|(path, bytes)| now.get(*path) != Some(bytes)) {
        fs::write(path, bytes).unwrap();
    }
}

/// When the journals are checked.
const NOW_MS: i64 = 1_700_000_009_000;

fn losses(sessions: &Sessions) -> Vec<Loss> {
    sessions.check_journals(None, Vec::new(), NOW_MS).unwrap().1
}

/// Changes a byte of the last such text in a journal.
fn change(journal: &Path, text: &str) {
    let mut bytes = fs::read(journal).unwrap();
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap();
    bytes[at] ^= 1;
    fs::write(journal, bytes).unwrap();
}

#[test]
fn every_byte_of_header_and_entries_counts() {
    for id in ["s", "an/odd id"] {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(place.path());
        prompt(&sessions, id, 1, "one");
        prompt(&sessions, id, 2, "two");
        assert_eq!(losses(&sessions), []);
        assert_eq!(sessions.check_heads(None).unwrap().1, None);
        let before = files(place.path());
        let is_journal = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "journal");
        let journal = before.keys().find(is_journal).unwrap();
        let bytes = &before[journal];
        let magic = [0xF5, 0xFF, b'E', 0xFE];
        let header = bytes.windows(4).position(|window| window == magic).unwrap();
        let end = if id == "s" { bytes.len() } else { header };
        for at in 0..end {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            fs::write(journal, changed).unwrap();
            let found = losses(&sessions);
            if found.is_empty() {
                // If a journal's header does not name its session, the session's head shows that the journal is missing.
                assert!(id != "s" && at < header, "byte {at}");
                let missed = sessions.check_heads(None).unwrap().1.unwrap();
                assert_eq!(missed.session_id.as_deref(), Some(id), "byte {at}: {missed:?}");
            } else {
                assert_eq!((found.len(), found[0].session_id.as_str()), (1, id), "byte {at}");
                let told = found[0].what.to_string();
                let name = journal.file_name().unwrap().to_str().unwrap();
                let expected = if at < header { name } else { "its journal was damaged" };
                assert!(told.contains(expected), "byte {at}: {told}");
                // A second check reports it again, because nobody has acknowledged it.
                let again = losses(&sessions);
                assert_eq!((again.len(), &again[0].what), (1, &found[0].what), "byte {at}");
                assert!(!again[0].is_acknowledged);
            }
            assert!(!sessions.folder().quarantine().losses().is_empty(), "byte {at}");
            restore(place.path(), &before);
        }
        assert_eq!(losses(&sessions), []);
    }
}

#[test]
fn a_header_whose_writer_died_is_nobodys_loss() {
    let place = tempfile::tempdir().unwrap();
    let sessions = sessions(place.path());
    drop(sessions.folder().session("s").unwrap().lock().unwrap());
    let before = files(place.path());
    let journal = sessions.folder().live_folder().join("s.journal");
    let header = &before[&journal];
    for length in 0..=header.len() {
        fs::write(&journal, &header[..length]).unwrap();
        assert_eq!(losses(&sessions), [], "{length} bytes");
        fs::write(&journal, vec![0; length]).unwrap();
        assert_eq!(losses(&sessions), [], "{length} zeros");
        restore(place.path(), &before);
    }
}

#[test]
fn several_events_that_are_lost_at_once_are_reported_once() {
    let place = tempfile::tempdir().unwrap();
    let sessions = sessions(place.path());
    let texts = ["first", "second", "third", "fourth", "fifth"];
    for (at_ms, text) in (1..).zip(texts) {
        prompt(&sessions, "s", at_ms, text);
    }
    let journal = place.path().join("project/.context-graph/live/s.journal");
    let mut bytes = fs::read(&journal).unwrap();
    for text in ["third", "fourth", "fifth"] {
        let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
        bytes[at] ^= 1;
    }
    fs::write(&journal, bytes).unwrap();
    let first = losses(&sessions);
    assert_eq!(first.iter().map(|loss| loss.what.lost).sum::<u64>(), 3, "{first:?}");
    for _ in 0..2 {
        let again = losses(&sessions);
        assert_eq!(again.iter().map(|loss| loss.what.lost).sum::<u64>(), 3, "{again:?}");
    }
}

#[test]
fn an_event_that_comes_while_a_loss_is_put_on_record_counts_once() {
    let place = tempfile::tempdir().unwrap();
    let [sessions, checking] = [place.path(); 2].map(sessions);
    prompt(&sessions, "s", 1, "one");
    prompt(&sessions, "s", 2, "two");
    let journal = sessions.folder().live_folder().join("s.journal");
    change(&journal, "two");
    // Whoever records a loss also notes the session's head, and waits for this lock.
    let heads = files(&place.path().join("private/heads"));
    let held = fs::File::options().append(true).open(heads.keys().next().unwrap()).unwrap();
    held.lock().unwrap();
    let checked = std::thread::spawn(move || losses(&checking));
    let lost = |bytes: &[u8]| bytes.windows(10).any(|window| window == b"EventsLost");
    while !lost(&fs::read(&journal).unwrap()) {
        std::thread::yield_now();
    }
    sessions.append("s", event("s", "three"), 3, None, || 1).unwrap();
    drop(held);
    assert_eq!(checked.join().unwrap().len(), 1);
    let counted = || sessions.view(None, "s").unwrap().unwrap().session.state.counters.events;
    let with_cache = counted();
    fs::remove_file(journal.with_extension("state")).unwrap();
    assert_eq!(with_cache, counted());
}

#[test]
fn a_check_does_not_change_when_a_session_began() {
    let place = tempfile::tempdir().unwrap();
    let sessions = sessions(place.path());
    let began_ms = 1_700_000_000_000;
    prompt(&sessions, "s", began_ms, "one");
    prompt(&sessions, "s", began_ms + 1, "two");
    prompt(&sessions, "only", began_ms, "one");
    for (id, text) in [("s", "two"), ("only", "one")] {
        change(&sessions.folder().live_folder().join(format!("{id}.journal")), text);
    }
    assert_eq!(losses(&sessions).len(), 2);
    assert_eq!(sessions.peek("s").unwrap().unwrap().state.started_ms, began_ms);
    // Nothing else is left of the session `only`, so its loss has the time of the check.
    let recorded = losses(&sessions);
    let only = recorded.iter().find(|loss| loss.session_id == "only").unwrap();
    assert_eq!(only.at_ms, Some(NOW_MS), "{recorded:?}");
}

#[test]
fn a_header_that_an_appender_repairs_is_reported_even_if_it_cannot_be_put_on_record() {
    let place = tempfile::tempdir().unwrap();
    let sessions = sessions(place.path());
    prompt(&sessions, "s", 1, "one");
    let journal = sessions.folder().live_folder().join("s.journal");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[0] ^= 1;
    fs::write(&journal, bytes).unwrap();
    // Nobody can lock the session.
    let state = journal.with_extension("state");
    fs::remove_file(&state).unwrap();
    fs::create_dir(&state).unwrap();
    let _ = sessions.append("s", event("s", "two"), 2, None, || 1);
    let told = sessions.take_losses();
    assert!(told.len() == 1 && told[0].contains("the header of s.journal was changed"), "{told:?}");
}

#[test]
fn what_was_saved_of_an_ended_session_can_be_acknowledged_whatever_its_id() {
    for id in ["s", "an/odd id"] {
        let place = tempfile::tempdir().unwrap();
        let sessions = sessions(place.path());
        prompt(&sessions, id, 1, "one");
        let before = files(&sessions.folder().live_folder());
        let is_journal = |path: &&PathBuf| path.extension().is_some_and(|kind| kind == "journal");
        let key = before.keys().find(is_journal).unwrap().file_stem().unwrap().to_str().unwrap();
        let put_away =
            sessions.put_away_silent(&mut None, std::time::Duration::ZERO, 2, &mut |_, _| {}).unwrap();
        assert_eq!(put_away, [id]);
        let quarantine = sessions.folder().quarantine();
        fs::create_dir_all(quarantine.folder()).unwrap();
        let piece = format!("{key}.lost-0-0123456789abcdef");
        fs::write(quarantine.folder().join(&piece), "what was damaged").unwrap();
        let store = sessions.store(3).unwrap();
        sessions.acknowledge_saved(store.as_ref(), &[], 4).unwrap();
        let losses = store.unwrap().verify_chains(&mut |_| {}).unwrap().losses;
        assert!(losses.len() == 1 && losses[0].is_acknowledged, "{losses:?}");
        assert_eq!((losses[0].session_id.as_str(), &losses[0].what.pieces), (id, &vec![piece]));
    }
}
