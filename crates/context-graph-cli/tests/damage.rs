//! Damaged files are noticed, kept and reported once, and they never stop the work.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::Place;
use serde_json::{Value, json};

fn prompt(place: &Place, text: &str) -> common::Run {
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "transcript_path": "/t",
        "cwd": "/w", "prompt": text});
    place.send(&["hooks", "event"], event.to_string())
}

fn stop(place: &Place) -> common::Run {
    let event = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/t", "cwd": "/w",
        "stop_hook_active": false});
    place.send(&["hooks", "event"], event.to_string())
}

fn prompts(place: &Place) -> Value {
    let run = place.run(&["session", "status", "s", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str::<Value>(&run.stdout).unwrap()["counters"]["prompts"].clone()
}

fn file(place: &Place, name: &str) -> PathBuf {
    place.project().join(".context-graph").join(name)
}

fn quarantined(place: &Place) -> usize {
    std::fs::read_dir(file(place, "quarantine")).map_or(0, Iterator::count)
}

#[test]
fn a_garbage_cache_is_rebuilt() {
    let place = Place::new();
    prompt(&place, "one").succeeded();
    stop(&place).succeeded();
    prompt(&place, "two").succeeded();
    let state = file(&place, "live/s.state");
    let size = std::fs::metadata(&state).unwrap().len();
    std::fs::write(&state, vec![0xA5; usize::try_from(size).unwrap()]).unwrap();
    let answer = prompt(&place, "three").succeeded();
    assert!(answer["notices"][0].as_str().unwrap().contains("rebuilt"), "{answer}");
    assert_eq!(prompts(&place), 3);
}

#[test]
fn a_missing_cache_is_rebuilt() {
    let place = Place::new();
    prompt(&place, "one").succeeded();
    stop(&place).succeeded();
    prompt(&place, "two").succeeded();
    std::fs::remove_file(file(&place, "live/s.state")).unwrap();
    prompt(&place, "three").succeeded();
    assert_eq!(prompts(&place), 3);
}

#[test]
fn a_torn_journal_loses_its_tail_and_keeps_the_bytes() {
    let place = Place::new();
    prompt(&place, "one").succeeded();
    prompt(&place, "two").succeeded();
    let journal = file(&place, "live/s.journal");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"half an ent");
    std::fs::write(&journal, bytes).unwrap();
    let answer = prompt(&place, "three").succeeded();
    assert!(answer["notices"].to_string().contains("entry"), "{answer}");
    assert_eq!(prompts(&place), 3);
    assert_eq!(quarantined(&place), 1);
    assert_eq!(prompt(&place, "four").succeeded().get("notices"), None, "told once");
    assert_eq!(prompts(&place), 4);
}

#[test]
fn a_damaged_snapshot_is_put_aside_and_told_once_with_exit_2() {
    let place = Place::new();
    prompt(&place, "one").succeeded();
    stop(&place).succeeded();
    std::fs::remove_file(file(&place, "live/s.state")).unwrap();
    // Finds the snapshot by its header and damages its middle.
    let data = file(&place, "data/context-graph.db");
    let mut bytes = std::fs::read(&data).unwrap();
    let magic = context_graph_storage::codec::MAGIC;
    let places: Vec<usize> =
        bytes.windows(magic.len()).enumerate().filter(|(_, w)| *w == magic).map(|(i, _)| i).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 40] ^= 0xFF;
    }
    std::fs::write(&data, bytes).unwrap();
    let run = prompt(&place, "two");
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.json()["error_code"], "corruption");
    assert!(run.json()["error"].as_str().unwrap().contains("quarantine"), "{run:?}");
    assert!(quarantined(&place) >= 1);
    prompt(&place, "three").succeeded();
    assert_eq!(place.run(&["session", "list"]).code, 0);
}

/// Changes what the store keeps of a session's state.
fn damage_state(place: &Place, set: &str) {
    let store = rusqlite::Connection::open(file(place, "data/context-graph.db")).unwrap();
    let changed = store
        .execute(
            &format!(
                "UPDATE states SET {set} WHERE session = (SELECT number FROM sessions WHERE session_id = 's')"
            ),
            [],
        )
        .unwrap();
    assert_eq!(changed, 1);
}

#[test]
fn a_session_whose_state_is_damaged_is_read_from_its_records_and_the_others_are_listed() {
    for set in ["state = zeroblob(200)", "snapshot = zeroblob(200)", "state = NULL", "snapshot = NULL"] {
        let place = Place::new();
        prompt(&place, "one").succeeded();
        stop(&place).succeeded();
        std::fs::remove_file(file(&place, "live/s.state")).unwrap();
        std::fs::remove_file(file(&place, "live/s.journal")).unwrap();
        let other = json!({"hook_event_name": "Stop", "session_id": "other", "transcript_path": "/t", "cwd": place.project(),
            "stop_hook_active": false});
        place.send(&["hooks", "event", "--stdin"], other.to_string()).succeeded();
        damage_state(&place, set);
        let listed = place.run(&["session", "list", "--json"]);
        assert_eq!(listed.code, 0, "{set}: {listed:?}");
        let sessions: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
        let session = sessions.iter().find(|session| session["session_id"] == "s").unwrap();
        assert_eq!((sessions.len(), &session["title"]), (2, &json!("one")), "{set}: {session}");
        assert_eq!(
            (&session["counters"]["prompts"], &session["counters"]["turns"]),
            (&json!(1), &json!(1)),
            "{set}"
        );
        let is_told = listed.stderr.contains("corrupted") && listed.stderr.contains("read from its records");
        assert_eq!(is_told, set.contains("zeroblob"), "{set}: {listed:?}");
    }
}

#[test]
fn a_cut_off_database_is_put_aside_and_told_once() {
    let place = Place::new();
    prompt(&place, "one").succeeded();
    stop(&place).succeeded();
    let data = file(&place, "data/context-graph.db");
    let cut = std::fs::read(&data).unwrap();
    std::fs::write(&data, &cut[..cut.len() / 2]).unwrap();
    let run = stop(&place);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.json()["error_code"], "corruption");
    stop(&place).succeeded();
    assert_eq!(prompts(&place), 1, "the live session knows what the database lost");
}

#[test]
fn a_state_folder_that_cannot_be_is_an_error_with_a_next_step() {
    let place = Place::new();
    std::fs::write(place.project().join(".context-graph"), "in the way").unwrap();
    let error = prompt(&place, "one").failed("storage");
    assert!(error.contains("it is a file"), "{error}");
}

#[cfg(unix)]
#[test]
fn damaged_pages_are_put_aside_after_one_failure_at_most_of_each_kind() {
    for (page, fill) in
        [(2, 0xFF), (3, 0xFF), (4, 0x00), (5, 0xFF), (6, 0x00), (7, 0xFF), (8, 0x00), (9, 0xFF)]
    {
        let place = Place::new();
        for text in ["one", "two", "three"] {
            prompt(&place, text).succeeded();
            stop(&place).succeeded();
        }
        let data = file(&place, "data/context-graph.db");
        let mut bytes = std::fs::read(&data).unwrap();
        let at = page * 4096;
        if at + 4096 > bytes.len() {
            continue;
        }
        bytes[at..at + 4096].fill(fill);
        std::fs::write(&data, bytes).unwrap();
        let mut answers = Vec::new();
        for _ in 0..6 {
            let run = stop(&place);
            assert!((0..=2).contains(&run.code), "page {page}: {run:?}");
            answers.push(run.json()["success"].as_bool().unwrap());
        }
        assert!(answers[3..].iter().all(|success| *success), "page {page}: never mended: {answers:?}");
        assert_eq!(place.run(&["session", "list"]).code, 0, "page {page}");
        assert_eq!(prompts(&place), 3, "page {page}: the live session knows");
    }
}

#[test]
fn an_absurd_call_id_does_not_stop_the_session() {
    let place = Place::new();
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/w",
        "tool_name": "Read", "tool_input": {}, "tool_use_id": "x".repeat(70_000)});
    place.send(&["hooks", "event"], call.to_string()).succeeded();
    stop(&place).succeeded();
}

#[test]
fn a_store_that_this_program_does_not_read_is_named_by_every_command() {
    let place = Place::without_upkeep();
    prompt(&place, "one").succeeded();
    std::fs::create_dir_all(file(&place, "data")).unwrap();
    std::fs::write(file(&place, "data/data.mdb"), "old").unwrap();
    let sentence = "it is the store of another engine, which this version does not read; remove the file";
    for args in [
        &["audit", "log"][..],
        &["audit", "stats"],
        &["audit", "sql", "SELECT 1"],
        &["audit", "verify"],
        &["session", "list"],
        &["maintain"],
        &["maintain", "--rebuild"],
        &["doctor"],
    ] {
        let run = place.run(args);
        assert!(run.code == 1 && (run.stdout.clone() + &run.stderr).contains(sentence), "{args:?}: {run:?}");
    }
    // Hooks go on with the journal.
    assert!(stop(&place).succeeded()["notices"].to_string().contains(sentence));
    std::fs::remove_file(file(&place, "data/data.mdb")).unwrap();
    stop(&place).succeeded();
    assert_eq!(prompts(&place), 1);
}
