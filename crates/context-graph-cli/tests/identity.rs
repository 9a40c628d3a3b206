//! A session's identity: what a prompt does to it, loading and saving it, and stopping in a crisis.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

fn answer(place: &Place, args: &[&str]) -> Value {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn snapshot(place: &Place) -> Value {
    answer(place, &["session", "load", "s"])
}

fn prompt(place: &Place, text: &str) -> Value {
    place.run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", text]).succeeded()
}

fn read(place: &Place, path: &str, content: &str) -> Value {
    let call = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "/p",
        "tool_name": "Read", "tool_use_id": path, "tool_input": {"file_path": path},
        "tool_response": {"file": {"content": content}}});
    place.send(&["hooks", "event"], call.to_string()).succeeded()
}

/// Work on a parser, as the prompt asked.
fn parser_work() -> Place {
    let place = Place::new();
    prompt(&place, "make the parser in src/parser/grammar.rs report the token where parsing failed");
    for at in 0..14 {
        let content = "fn parse_token(grammar: &Grammar) -> Token { report_failed(token) }";
        read(&place, &format!("/p/src/parser/grammar{}.rs", at % 4), content);
    }
    place
}

fn sum(snapshot: &Value) -> f64 {
    snapshot["purpose_vector"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).sum()
}

#[test]
fn an_opposite_prompt_lowers_what_the_work_is_worth_and_a_fitting_one_keeps_it() {
    let after = |text: &str| {
        let place = parser_work();
        let before = snapshot(&place);
        let answer = prompt(&place, text);
        let after = snapshot(&place);
        assert_eq!(after["trajectory"], before["trajectory"], "only results make a trajectory");
        assert!(
            answer["ic_classification"]["value"].as_f64().unwrap() >= 0.7,
            "no crisis by a prompt: {answer}"
        );
        (before, after, answer)
    };
    let (before, turned, answer) = after(
        "forget all that: write a cheerful wedding invitation with flowers, music and dinner for grandmother",
    );
    assert!(sum(&turned) < sum(&before) * 0.9, "{before} {turned}");
    let measures = &answer["consciousness_state"];
    for (name, field) in [
        ("identity_continuity", "last_ic"),
        ("integration", "integration"),
        ("differentiation", "differentiation"),
        ("consciousness", "consciousness"),
        ("reflection", "reflection"),
    ] {
        assert_ne!(measures[name], before[field], "{name} moves: {measures} {before}");
        assert_eq!(measures[name], turned[field], "{name} is what is stored");
    }
    let ic = |of: &Value| of["last_ic"].as_f64().unwrap();
    assert!(ic(&turned) < ic(&before), "{} {}", ic(&turned), ic(&before));

    let (before, kept, _) =
        after("now let the parser report the token of the grammar too, in src/parser/grammar1.rs");
    assert!(sum(&kept) > sum(&before) * 0.97, "{before} {kept}");
    assert!(ic(&kept) >= ic(&before) - 0.01, "{} {}", ic(&kept), ic(&before));
    let (before, same, _) = after("go on");
    assert!(sum(&same) > sum(&before) * 0.9, "{before} {same}");
}

#[test]
fn before_there_is_work_a_prompt_is_held_against_the_prompts() {
    let place = Place::new();
    prompt(&place, "make the parser report the token where parsing of the grammar failed");
    let first = snapshot(&place);
    let fitting =
        prompt(&place, "let the parser report the failed token of the grammar")["consciousness_state"]
            .clone();
    let turned = prompt(&place, "write a cheerful wedding invitation with flowers and music for grandmother");
    let turned = turned["consciousness_state"].clone();
    assert_eq!(first["last_ic"], 1.0, "there is nothing to hold the first one against");
    let ic = |of: &Value| of["identity_continuity"].as_f64().unwrap();
    assert!(ic(&fitting) > 0.99 && ic(&turned) < ic(&fitting) && ic(&turned) >= 0.7, "{fitting} {turned}");
}

#[test]
fn work_after_a_turn_is_measured_as_if_the_prompt_had_only_been_heard() {
    let place = parser_work();
    let before = snapshot(&place)["last_ic"].as_f64().unwrap();
    prompt(
        &place,
        "forget all that: write a cheerful wedding invitation with flowers and music for grandmother",
    );
    let back = read(&place, "/p/src/parser/grammar1.rs", "fn parse_token(grammar: &Grammar) -> Token {}");
    let ic = back["ic_classification"]["value"].as_f64().unwrap();
    assert!(ic > 0.7 && ic > before - 0.2, "{ic} {before}");
}

#[test]
fn an_identity_can_be_taken_out_changed_and_put_back() {
    let place = parser_work();
    let mut taken = snapshot(&place);
    assert_eq!(taken["session_id"], "s");
    taken["last_ic"] = json!(0.25);
    // First while the session runs, then after its end.
    for _ in 0..2 {
        let saved = place.send(&["session", "save", "--json"], taken.to_string());
        assert_eq!(saved.code, 0, "{saved:?}");
        assert_eq!(snapshot(&place), taken);
        assert_eq!(answer(&place, &["session", "status", "s", "--json"])["ic"]["value"], 0.25);
        place.run(&["hooks", "session-end", "--session-id", "s"]).succeeded();
        taken["timestamp_ms"] = json!(taken["timestamp_ms"].as_i64().unwrap() + 1000);
    }
    let file = place.project().join("snapshot.json");
    std::fs::write(&file, taken.to_string()).unwrap();
    assert_eq!(place.run(&["session", "save", file.to_str().unwrap()]).stdout, "saved s\n");
    let log = answer(&place, &["audit", "log", "--json", "--event", "IdentitySaved"]);
    let told: Vec<&str> =
        log.as_array().unwrap().iter().map(|one| one["subject"].as_str().unwrap()).collect();
    assert_eq!(told.len(), 3, "each change is on record: {log}");
    assert!(told[0].contains("last_ic") && told[1].contains("timestamp_ms"), "{told:?}");
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    let status = answer(&place, &["session", "status", "s", "--json"]);
    assert_eq!(status["end_reason"], "exit", "a session that has ended stays so: {status}");
}

#[test]
fn an_identity_is_made_where_there_is_none_only_if_asked_for() {
    let place = Place::new();
    prompt(&place, "hello");
    let missing = place.run(&["session", "load", "other", "--json"]);
    assert_eq!(
        (missing.code, &missing.json()["error_code"]),
        (1, &json!("session_not_found")),
        "{missing:?}"
    );
    let made = answer(&place, &["session", "load", "other", "--create"]);
    assert_eq!(made["session_id"], "other");
    assert!(made["timestamp_ms"].as_i64().unwrap() > 1_700_000_000_000, "dated by the clock: {made}");
    assert_eq!(answer(&place, &["session", "load", "other"]), made);
    let next = ["session", "load", "next", "--create", "--previous-session-id"];
    let lost = place.run(&[&next[..], &["nobody", "--json"]].concat());
    assert_eq!((lost.code, &lost.json()["error_code"]), (1, &json!("session_not_found")), "{lost:?}");
    assert_eq!(answer(&place, &[&next[..], &["other"]].concat())["previous_session_id"], "other");
}

#[test]
fn a_snapshot_that_makes_no_sense_is_refused_by_its_field() {
    let place = parser_work();
    let good = snapshot(&place);
    for (change, word, code) in [
        (json!({"last_ic": 1.5}), "last_ic", "validation"),
        (json!({"purpose_vector": [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}), "purpose_vector", "validation"),
        (json!({"coupling": -1}), "coupling", "validation"),
        (json!({"timestamp_ms": 0}), "timestamp_ms", "validation"),
        (json!({"session_id": ""}), "session id", "validation"),
        (json!({"mood": 1}), "mood", "parse"),
        (json!({"purpose_vector": [1, 2]}), "13", "parse"),
    ] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let run = place.send(&["session", "save", "--json"], bad.to_string());
        let answer = run.json();
        assert_eq!((run.code, &answer["error_code"]), (1, &json!(code)), "{run:?}");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .to_lowercase()
                .replace('_', " ")
                .contains(&word.replace('_', " ")),
            "{run:?}"
        );
    }
    let mut cut = good;
    cut.as_object_mut().unwrap().remove("coupling");
    let run = place.send(&["session", "save", "--json"], cut.to_string());
    assert!(run.json()["message"].as_str().unwrap().contains("coupling"), "{run:?}");
}

#[test]
fn a_script_can_stop_at_a_crisis() {
    let place = parser_work();
    assert_eq!(place.run(&["session", "status", "s", "--fail-in-crisis"]).code, 0);
    let mut taken = snapshot(&place);
    taken["last_ic"] = json!(0.25);
    assert_eq!(place.send(&["session", "save"], taken.to_string()).code, 0);
    let run = place.run(&["session", "status", "s", "--fail-in-crisis", "--json"]);
    let answer = run.json();
    assert_eq!((run.code, &answer["error_code"]), (1, &json!("crisis")), "{run:?}");
    assert_eq!(answer["message"], "Crisis threshold breached: IC=0.25");
}
