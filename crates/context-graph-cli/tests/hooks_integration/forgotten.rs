//! Removing sessions: all of it, or nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::Place;
use crate::{call, end, event, prompt, show, start, status, stop};

#[test]
fn a_session_that_the_store_cannot_remove_keeps_its_journal() {
    let place = Place::without_upkeep();
    start(&place, "s", "startup");
    prompt(&place, "s", "stored");
    stop(&place, "s");
    prompt(&place, "s", "not stored yet");
    call(&place, "s", "t1", "ls");
    let before = show(&place, "s");
    // The key of the next tombstone is already used, so the store fails and removes nothing.
    let store =
        || rusqlite::Connection::open(place.project().join(".context-graph/data/context-graph.db")).unwrap();
    store().execute("INSERT INTO tombstones VALUES (1, 0, x'00', x'00')", []).unwrap();
    let run = place.run(&["session", "forget", "s", "--yes"]);
    assert!(run.code == 1 && run.stdout.is_empty(), "{run:?}");
    assert_eq!(show(&place, "s"), before);
    store().execute("DELETE FROM tombstones", []).unwrap();
    let run = place.run(&["audit", "verify"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = place.run(&["session", "forget", "s", "--yes"]);
    assert!(run.code == 0 && run.stdout.contains("its journal and state file"), "{run:?}");
    assert!(place.run(&["session", "list"]).stdout.contains("no sessions"));
}

/// Shares no part with any other text, so that compression leaves it readable.
const MARKER: &str = "Quixzalbrunvoy";

/// The files below a folder that contain the marker, as it is or in hexadecimal.
fn telling(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(telling(&path));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let hex = context_graph_storage::hex::hex(MARKER.as_bytes());
        if text.contains(&MARKER.to_lowercase()) || text.contains(&hex) {
            found.push(path);
        }
    }
    found
}

/// How many of the marker's trigrams are in the search index.
fn indexed(place: &Place) -> i64 {
    let store =
        rusqlite::Connection::open(place.project().join(".context-graph/data/context-graph.db")).unwrap();
    store.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)").unwrap();
    let word = MARKER.to_lowercase();
    let known = |at: usize| {
        let asked = "SELECT count(*) FROM temp.terms WHERE term = ?";
        store.query_row(asked, [&word[at..at + 3]], |row| row.get::<_, i64>(0)).unwrap()
    };
    (0..word.len() - 2).map(known).sum()
}

/// A session with the marker everywhere: in the store, in the search index, in its live files and in quarantine.
fn told_everywhere(place: &Place) {
    let transcript = place.project().join("t.jsonl");
    let title = json!({"type": "ai-title", "aiTitle": format!("About {MARKER}"), "sessionId": "gone"});
    std::fs::write(&transcript, format!("{title}\n")).unwrap();
    let send = |name: &str, own: Value| {
        let mut own = own;
        own["transcript_path"] = json!(transcript);
        place.send(&["hooks", "event"], event("gone", name, own))
    };
    let work = |id: &str| {
        send("UserPromptSubmit", json!({"prompt": format!("look for {MARKER}")})).succeeded();
        let call = json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": format!("/w/{MARKER}.rs")}});
        send("PreToolUse", call.clone()).succeeded();
        let mut done = call;
        done["tool_response"] = json!({"content": format!("fn {MARKER}() {{}}")});
        send("PostToolUse", done).succeeded();
        let compacted =
            send("PreCompact", json!({"trigger": "manual", "custom_instructions": format!("keep {MARKER}")}));
        assert_eq!(compacted.code, 0, "{compacted:?}");
    };
    send("SessionStart", json!({"source": "startup"})).succeeded();
    work("t1");
    send("Stop", json!({"stop_hook_active": false})).succeeded();
    assert!(status(place, "gone")["title"].as_str().unwrap().contains(MARKER));
    send("SessionEnd", json!({"reason": "other"})).succeeded();
    assert_eq!(place.run(&["maintain"]).code, 0);
    assert!(indexed(place) > 10);

    send("SessionStart", json!({"source": "resume"})).succeeded();
    work("t2");
    for text in ["one", "two", "three"] {
        send("UserPromptSubmit", json!({"prompt": format!("{text} {MARKER}")})).succeeded();
    }
    // A changed entry goes to quarantine.
    let journal = place.project().join(".context-graph/live/gone.journal");
    let mut bytes = std::fs::read(&journal).unwrap();
    let at = bytes.windows(4).position(|window| window == b"two ").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&journal, bytes).unwrap();
    std::fs::remove_file(journal.with_extension("state")).unwrap();
    send("UserPromptSubmit", json!({"prompt": format!("four {MARKER}")})).succeeded();
    // And so does a changed state in the store.
    let store =
        rusqlite::Connection::open(place.project().join(".context-graph/data/context-graph.db")).unwrap();
    let asked = "UPDATE states SET state = CAST(state || x'00' AS BLOB) WHERE session = (SELECT number FROM sessions WHERE session_id = 'gone')";
    assert_eq!(store.execute(asked, []).unwrap(), 1);
    drop(store);
    place.run(&["session", "show", "gone"]);
}

#[test]
fn no_byte_of_a_forgotten_session_is_left_in_any_file() {
    let place = Place::without_upkeep();
    start(&place, "kept", "startup");
    prompt(&place, "kept", "something else");
    end(&place, "kept");
    told_everywhere(&place);
    let state = place.project().join(".context-graph");
    let files = telling(&state);
    for (folder, least) in [("data", 1), ("live", 2), ("quarantine", 2)] {
        let count = files.iter().filter(|path| path.starts_with(state.join(folder))).count();
        assert!(count >= least, "{folder}: {files:?}");
    }
    let run = place.run(&["session", "forget", "gone", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!((telling(&state), telling(&place.home())), (Vec::new(), Vec::new()));
    assert_eq!(indexed(&place), 0);
    // The program, which can read compressed data, does not find it either.
    for args in [&["session", "export", "kept"][..], &["audit", "log", "--all"], &["session", "list"]] {
        let run = place.run(args);
        assert!(run.code == 0 && !run.stdout.is_empty() && !run.stdout.contains(MARKER), "{run:?}");
    }
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
}
