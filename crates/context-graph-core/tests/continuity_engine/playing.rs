//! Helpers that play test sessions.
#![expect(clippy::unwrap_used, reason = "a helper of tests fails as a test does")]

use context_graph_core::continuity::{Assessment, Continuity};
use context_graph_events::Event;
use serde_json::{Value, json};

/// The events of a session in `tests/continuity_engine/sessions`.
pub(crate) fn session(name: &str) -> Vec<(Event, i64)> {
    let path = format!("{}/tests/continuity_engine/sessions/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| timed(serde_json::from_str(line).unwrap())).collect()
}

fn timed(mut line: Value) -> (Event, i64) {
    let map = line.as_object_mut().unwrap();
    let at_ms = map.remove("timestamp_ms").and_then(|at| at.as_i64()).unwrap();
    (Event::from_object(map.clone()).unwrap(), at_ms)
}

/// The assessments of all events.
pub(crate) fn play(engine: &mut Continuity, events: &[(Event, i64)]) -> Vec<Assessment> {
    events.iter().map(|(event, at_ms)| engine.observe(event, *at_ms)).collect()
}

/// The assessments of the tool results of a session.
pub(crate) fn scored(name: &str) -> Vec<Assessment> {
    play(&mut Continuity::default(), &session(name)).into_iter().filter(|seen| seen.scored).collect()
}

/// A payload with the fields that every event has.
pub(crate) fn event(payload: Value) -> Event {
    let mut whole = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/p"});
    whole.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
    Event::from_object(whole.as_object().unwrap().clone()).unwrap()
}

/// A prompt.
pub(crate) fn prompt(text: &str) -> Event {
    event(json!({"hook_event_name": "UserPromptSubmit", "prompt": text}))
}

/// A call that succeeded.
pub(crate) fn done(tool: &str, input: Value, output: &str) -> Event {
    event(json!({
        "hook_event_name": "PostToolUse", "tool_name": tool, "tool_use_id": "t",
        "tool_input": input, "tool_response": {"content": output},
    }))
}

/// A call that failed.
pub(crate) fn failed(tool: &str, input: Value, error: &str) -> Event {
    event(json!({
        "hook_event_name": "PostToolUseFailure", "tool_name": tool, "tool_use_id": "t",
        "tool_input": input, "error": error,
    }))
}
