//! Past sessions through the same engine.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

fn payload(name: &str, own: &Value, at_ms: i64) -> String {
    let mut payload = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/w",
        "timestamp_ms": at_ms});
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    payload.to_string()
}

fn failing(at_ms: i64) -> String {
    let own = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t", "error": "Exit code 2"});
    payload("PostToolUseFailure", &own, at_ms)
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_line_comes_out_for_each_that_goes_in() {
    let place = Place::new();
    let mut input = vec![
        payload("SessionStart", &json!({"source": "startup"}), 1),
        payload("UserPromptSubmit", &json!({"prompt": "build it"}), 2),
    ];
    input.extend((0..5).map(|i| failing(3 + i)));
    let run = place.send(&["replay", "--events", "-", "--format", "jsonl"], input.join("\n"));
    assert_eq!(run.code, 0, "{run:?}");
    let out = lines(&run.stdout);
    assert_eq!(out.len(), 7);
    for (line, answer) in (1..).zip(&out) {
        assert_eq!((&answer["line"], &answer["session_id"]), (&json!(line), &json!("s")));
        for key in ["hook_event_name", "ic", "level", "looping", "r"] {
            assert!(answer.get(key).is_some(), "no {key} in {answer}");
        }
    }
    assert_eq!((&out[2]["looping"], &out[6]["looping"]), (&json!(false), &json!(true)));
    assert!(out[6]["loop"]["what"].as_str().unwrap().contains("make"));
    assert!(!place.project().join(".context-graph").exists(), "nothing is stored");
}

#[test]
fn the_same_in_gives_the_same_out() {
    let place = Place::new();
    let input: Vec<String> = (0..30).map(failing).collect();
    let play = || place.send(&["replay", "--events", "-", "--format", "jsonl"], input.join("\n")).stdout;
    assert_eq!(play(), play());
}

#[test]
fn a_line_that_is_no_event_is_answered_as_such() {
    let place = Place::new();
    let run = place.send(
        &["replay", "--events", "-", "--format", "jsonl"],
        format!("{}\nnonsense\n\n{}\n", failing(1), failing(2)),
    );
    assert_eq!(run.code, 1, "{run:?}");
    let out = lines(&run.stdout);
    assert_eq!(out.len(), 3);
    assert!(out[1]["error"].as_str().unwrap().contains("not valid JSON"));
    assert_eq!(out[1]["line"], 2);
}

#[test]
fn a_transcript_of_the_clients_is_played_and_drawn() {
    let place = Place::new();
    let folder = place.project().join("projects/-home-user-project");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |value: Value| value.to_string();
    let common = json!({"sessionId": "abc", "cwd": "/w", "timestamp": "2026-11-15T16:57:41.620Z"});
    let with = |own: Value| {
        let mut value = common.clone();
        value.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        line(value)
    };
    let mut transcript = vec![
        line(json!({"type": "queue-operation", "operation": "enqueue"})),
        with(json!({"type": "user", "message": {"role": "user", "content": "fix the build"}})),
    ];
    for i in 0..6 {
        let id = format!("toolu_{i}");
        transcript.push(with(json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "trying"},
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]}})));
        transcript.push(with(json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": true, "content": "Exit code 2\nno rule"}]}})));
    }
    transcript.push(with(json!({"type": "system", "subtype": "compact_boundary"})));
    std::fs::write(folder.join("abc.jsonl"), transcript.join("\n")).unwrap();
    let run = place.run(&["replay", place.project().join("projects").to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("session abc") && run.stdout.contains("1 prompt, 6 tool calls"), "{run:?}");
    assert!(run.stdout.contains("loop: ") && run.stdout.contains('█'), "{run:?}");
    assert!(run.stderr.contains("skipped 1 line with other content"), "{run:?}");
    let pattern = place.project().join("projects/**/*.jsonl");
    assert!(
        place.run(&["replay", pattern.to_str().unwrap()]).stdout.contains("session abc"),
        "patterns are followed"
    );
    let missing = place.run(&["replay", "/nowhere"]);
    assert!(missing.code == 1 && missing.stderr.contains("/nowhere"), "{missing:?}");
}

#[test]
fn sessions_are_told_in_the_order_of_their_beginnings() {
    let place = Place::new();
    let of = |session: &str, at_ms: i64| {
        payload("UserPromptSubmit", &json!({"prompt": "x"}), at_ms)
            .replace("\"s\"", &format!("\"{session}\""))
    };
    let input = [of("a-late", 9_000_000), of("b-early", 1_000_000)].join("\n");
    let told = place.send(&["replay", "--events", "-"], input).stdout;
    let at = |session: &str| told.find(session).unwrap_or_else(|| panic!("{told}"));
    assert!(at("b-early") < at("a-late"), "{told}");
}
