//! Whole sessions through real processes on a real disk.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod forgotten;
mod kept;
mod life;
mod place;
mod told;

use common::Place;
use serde_json::{Value, json};

fn event(session: &str, name: &str, own: Value) -> String {
    let mut payload = json!({
        "hook_event_name": name, "session_id": session, "transcript_path": "/t.jsonl", "cwd": "/w",
    });
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    payload.to_string()
}

fn start(place: &Place, session: &str, source: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "SessionStart", json!({"source": source}))).succeeded()
}

fn prompt(place: &Place, session: &str, text: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "UserPromptSubmit", json!({"prompt": text}))).succeeded()
}

fn call(place: &Place, session: &str, id: &str, command: &str) {
    let own = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
    place.send(&["hooks", "event"], event(session, "PreToolUse", own.clone())).succeeded();
    let mut done = own;
    done["tool_response"] = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    place.send(&["hooks", "event"], event(session, "PostToolUse", done)).succeeded();
}

fn stop(place: &Place, session: &str) -> Value {
    let own = json!({"stop_hook_active": false});
    place.send(&["hooks", "event"], event(session, "Stop", own)).succeeded()
}

fn end(place: &Place, session: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "SessionEnd", json!({"reason": "other"}))).succeeded()
}

fn status(place: &Place, session: &str) -> Value {
    let run = place.run(&["session", "status", session, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn show(place: &Place, session: &str) -> Value {
    let run = place.run(&["session", "show", session, "--json", "--events", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn events_of(story: &Value) -> Vec<&str> {
    story["events"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect()
}
