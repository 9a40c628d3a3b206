//! Where state is kept.
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
    // A known session is linked, whether it is in the store or not.
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

#[test]
fn the_place_that_is_the_default_is_the_default() {
    let place = Place::new();
    hook(&place, &start("s")).succeeded();
    let database = place.project().join(".context-graph/data");
    let names = [".context-graph/data", "./.context-graph/x/../data/", ".context-graph"];
    for (number, named) in names.into_iter().chain(database.to_str()).enumerate() {
        let run = place.send(&["hooks", "prompt-submit", "--db-path", named], prompt("s", "hello"));
        run.succeeded();
        let status = place.run(&["session", "status", "s", "--json", "--db-path", named]);
        assert_eq!(prompts(&status), number as u64 + 1, "{named}");
    }
    hook(&place, &event("Stop", "s", json!({"stop_hook_active": false}))).succeeded();
    let there = |name: &str| database.join(name).exists();
    assert!(there("context-graph.db") && !there("live") && !there("mark"), "{:?}", tree(&database));
    let shown = place.run(&["config", "path", "--json", "--db-path", ".context-graph/data"]).stdout;
    assert!(shown.contains("/project/.context-graph/data\""), "{shown}");
}

#[test]
fn a_place_that_cannot_be_used_is_named_with_what_to_do_instead() {
    let place = Place::new();
    let far = place.home().join("a/../b");
    let far = far.to_str().unwrap();
    for (named, fix) in [("../out", "name a folder inside, or an absolute path"), (far, "without `..`")] {
        let run = place.send(&["hooks", "prompt-submit", "--db-path", named], prompt("s", "hello"));
        let error = run.failed("storage");
        assert!(error.contains(named) && error.contains(fix), "{error}");
        assert!(run.stderr.trim_end().ends_with(&error), "nothing else is advised: {run:?}");
    }
}

#[test]
fn doctor_looks_at_the_place_that_is_named() {
    let place = Place::new();
    place.send(&["hooks", "session-start", "--db-path", "elsewhere"], start("s")).succeeded();
    let stop = event("Stop", "s", json!({"stop_hook_active": false}));
    place.send(&["hooks", "event", "--db-path", "elsewhere"], stop).succeeded();
    let told = |args: &[&str]| place.run(&[&["doctor", "--verbose"], args].concat()).stdout;
    assert!(told(&["--db-path", "elsewhere"]).contains("the store holds 1 session"));
    assert!(told(&[]).contains("nothing is remembered yet"));
    assert!(!place.project().join(".context-graph").exists(), "looking makes nothing");
}

#[test]
fn every_command_says_the_same_of_the_place() {
    let place = Place::new();
    let help = |verb: &[&str]| {
        let text = place.run(&[verb, &["--help"]].concat()).stdout;
        let words: Vec<&str> = text.split_whitespace().collect();
        let at =
            words.iter().position(|word| *word == "--db-path").unwrap_or_else(|| panic!("{verb:?}: {text}"));
        let end = words[at + 2..].iter().position(|word| word.starts_with("--") || *word == "-h,").unwrap();
        words[at + 2..at + 2 + end].join(" ")
    };
    let first = help(&["hooks", "event"]);
    assert!(first.contains(".context-graph/data") && first.contains("CONTEXT_GRAPH_DB_PATH"), "{first}");
    for verb in [
        &["hooks", "session-start"][..],
        &["session", "list"],
        &["audit", "verify"],
        &["consciousness", "status"],
        &["maintain"],
        &["config", "show"],
        &["doctor"],
    ] {
        assert!(help(verb).starts_with(&first), "{verb:?}: {}", help(verb));
    }
}
