//! Where state is, and that what is lost is told.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};

use common::{Place, Run, send};
use serde_json::{Value, json};

fn event(name: &str, session: &str, more: Value) -> String {
    let mut event =
        json!({"hook_event_name": name, "session_id": session, "transcript_path": "/t", "cwd": "/w"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event.to_string()
}

fn start(session: &str) -> String {
    event("SessionStart", session, json!({"source": "startup"}))
}

fn prompt(session: &str, text: &str) -> String {
    event("UserPromptSubmit", session, json!({"prompt": text}))
}

fn call(name: &str, session: &str, id: &str) -> String {
    let mut more = json!({"tool_name": "Read", "tool_input": {"file_path": "/w/a"}, "tool_use_id": id});
    if name == "PostToolUse" {
        more["tool_response"] = json!({"ok": true});
    }
    event(name, session, more)
}

fn hook(place: &Place, event: &str) -> Run {
    place.send(&["hooks", "event"], event)
}

fn prompts(run: &Run) -> u64 {
    assert_eq!(run.code, 0, "{run:?}");
    run.json()["counters"]["prompts"].as_u64().unwrap()
}

fn tree(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(tree(&path));
        }
        all.push(path);
    }
    all
}

#[test]
fn state_that_is_named_elsewhere_is_all_there_and_two_places_never_see_each_other() {
    for by_flag in [true, false] {
        let place = Place::new();
        let at = |path: &str, args: &[&str]| {
            let mut args = args.to_vec();
            if by_flag && args[0] != "statusline" {
                args.extend(["--db-path", path]);
            }
            let mut command = place.command(&args);
            command.env(
                "CONTEXT_GRAPH_DB_PATH",
                if by_flag && args[0] != "statusline" { "wrong" } else { path },
            );
            command
        };
        for (path, texts) in [("one", &["a"][..]), ("two", &["b", "c"])] {
            send(at(path, &["hooks", "session-start"]), start("s").as_bytes()).succeeded();
            for text in texts {
                send(at(path, &["hooks", "prompt-submit"]), prompt("s", text).as_bytes()).succeeded();
            }
            send(at(path, &["hooks", "pre-tool"]), call("PreToolUse", "s", "t").as_bytes()).succeeded();
        }
        for (path, asked) in [("one", 1), ("two", 2)] {
            let status = send(at(path, &["session", "status", "s", "--json"]), b"");
            assert_eq!(prompts(&status), asked, "{path}: {status:?}");
            let stop = event("Stop", "s", json!({"stop_hook_active": false}));
            send(at(path, &["hooks", "event"]), stop.as_bytes()).succeeded();
            for looking in [
                &["audit", "verify", "--json"][..],
                &["consciousness", "status", "--json"],
                &["maintain", "--json"],
            ] {
                let run = send(at(path, looking), b"");
                assert_eq!(run.code, 0, "{looking:?} {run:?}");
            }
            let line = send(at(path, &["statusline"]), br#"{"session_id": "s"}"#);
            assert!(line.stdout.contains("1 call"), "{line:?}");
        }
        let other = send(at("three", &["session", "list", "--json"]), b"");
        assert_eq!(other.stdout.trim(), "[]", "looking makes nothing: {other:?}");
        assert!(!place.project().join("three").exists());
        assert!(!place.project().join("wrong").exists());
        assert!(!place.project().join(".context-graph").exists(), "{:?}", tree(&place.project()));
        assert_eq!(std::fs::read_to_string(place.project().join("one/.gitignore")).unwrap(), "*\n");
    }
}

#[test]
fn a_session_that_names_an_unknown_one_before_it_starts_without() {
    let place = Place::new();
    let run = place.run(&[
        "hooks",
        "session-start",
        "--session-id",
        "s",
        "--previous-session-id",
        "does-not-exist",
    ]);
    let answer = run.succeeded();
    assert_eq!(answer["error_code"], "session_not_found");
    let notice = answer["notices"].to_string();
    assert!(notice.contains("session_not_found") && notice.contains("does-not-exist"), "{notice}");
    assert!(!answer["context_injection"].to_string().contains("does-not-exist"), "{answer}");
    let status = place.run(&["session", "status", "s", "--json"]).json();
    assert_eq!(status.get("previous_session_id"), None, "{status}");
    // One that is known, stored or not, is linked.
    let run = place.run(&["hooks", "session-start", "--session-id", "t", "--previous-session-id", "s"]);
    assert_eq!(run.succeeded().get("error_code"), None);
    assert_eq!(place.run(&["session", "status", "t", "--json"]).json()["previous_session_id"], "s");
}

#[test]
fn the_databases_folder_is_there_after_the_first_start() {
    let place = Place::new();
    let envelope = json!({"hook_type": "session_start", "session_id": "manual-test-1", "timestamp_ms": 1_705_312_345_678_i64,
        "payload": {"type": "session_start", "data": {"cwd": "/home/user/project", "source": "startup",
        "previous_session_id": null}}});
    place.send(&["hooks", "session-start", "--stdin"], envelope.to_string()).succeeded();
    assert!(place.project().join(".context-graph/data").is_dir());
}

/// Three prompts in an open session, and a byte in the middle one changed.
fn with_a_changed_entry() -> Place {
    let place = Place::new();
    hook(&place, &start("s")).succeeded();
    for text in ["one", "the middle", "three"] {
        hook(&place, &prompt("s", text)).succeeded();
    }
    let journal = place.project().join(".context-graph/live/s.journal");
    let mut bytes = std::fs::read(&journal).unwrap();
    let at = bytes.windows(10).position(|window| window == b"the middle").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&journal, bytes).unwrap();
    // The cache has it still; without it everything comes from the journal.
    std::fs::remove_file(journal.with_extension("state")).unwrap();
    place
}

#[test]
fn a_lost_event_is_told_once_where_that_stops_nobody_and_verify_goes_on_naming_it() {
    let place = with_a_changed_entry();
    // The client drops a prompt whose hook ends with 2.
    let run = hook(&place, &prompt("s", "four"));
    assert!(run.succeeded()["notices"].to_string().contains("damaged entry"), "{run:?}");
    let run = hook(&place, &event("SessionEnd", "s", json!({"reason": "other"})));
    assert_eq!((run.code, &run.json()["error_code"]), (2, &json!("corruption")), "{run:?}");
    assert!(run.json()["error"].as_str().unwrap().contains("quarantine"), "{run:?}");
    hook(&place, &start("t")).succeeded();
    let quarantine = place.project().join(".context-graph/quarantine");
    let saved: Vec<PathBuf> = tree(&quarantine);
    assert_eq!(saved.len(), 1);
    assert!(String::from_utf8_lossy(&std::fs::read(&saved[0]).unwrap()).contains("he middle"));
    for _ in 0..2 {
        let run = place.run(&["audit", "verify"]);
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("DOES NOT hold: session s"), "{run:?}");
    }
}

#[test]
fn a_lost_event_that_the_result_of_a_call_meets_is_told_there() {
    let place = with_a_changed_entry();
    let run = hook(&place, &call("PostToolUse", "s", "t"));
    assert_eq!((run.code, &run.json()["error_code"]), (2, &json!("corruption")), "{run:?}");
    hook(&place, &call("PostToolUse", "s", "u")).succeeded();
    hook(&place, &event("SessionEnd", "s", json!({"reason": "other"}))).succeeded();
}

#[test]
fn a_changed_byte_in_the_journal_of_an_open_session_is_found_by_verify() {
    let whole = Place::new();
    hook(&whole, &start("s")).succeeded();
    for text in ["one", "two"] {
        hook(&whole, &prompt("s", text)).succeeded();
    }
    assert_eq!(whole.run(&["audit", "verify"]).code, 0);
    let journal = whole.project().join(".context-graph/live/s.journal");
    let bytes = std::fs::read(&journal).unwrap();
    for at in [bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x11;
        std::fs::write(&journal, changed).unwrap();
        let run = whole.run(&["audit", "verify"]);
        assert_ne!(run.code, 0, "byte {at}: {run:?}");
        assert!(run.stdout.contains("journal was damaged"), "byte {at}: {run:?}");
        std::fs::remove_dir_all(whole.project().join(".context-graph/quarantine")).unwrap();
        std::fs::write(&journal, &bytes).unwrap();
    }
}
