//! A project with data: one session from the client's recorded payloads, and one that is still running.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, Run};

/// The recorded session.
pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";
/// The running session.
pub(crate) const OPEN: &str = "11111111-0000-4000-8000-000000000001";
/// An invented token of a known kind.
pub(crate) const SECRET: &str = "ghp_Zx81kQmV0c3RhTnB2eWRrTGd4bUpzQ2Z1aHq";
/// A formula for spreadsheets, control characters for terminals, and invisible characters.
pub(crate) const NASTY: &str = "=HYPERLINK(\"http://x\",\"a\")\u{1b}[31m\u{202e}\nsecond, line";

/// A recorded payload of the client.
pub(crate) fn payload(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../context-graph-events/tests/payloads");
    let text = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// A recorded payload with some fields changed.
pub(crate) fn changed(name: &str, fields: &Value) -> Value {
    let mut payload = payload(name);
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    payload
}

/// Sends an event to the real binary.
pub(crate) fn send(place: &Place, event: &Value) {
    let run = place.send(&["hooks", "event"], event.to_string());
    assert_eq!(run.code, 0, "{run:?}");
}

/// A project with both sessions.
pub(crate) fn played() -> Place {
    let place = Place::without_upkeep();
    let failing = json!({"tool_use_id": "t-fail"});
    let failing_input = payload("PostToolUseFailure")["tool_input"].clone();
    let denied = json!({"tool_use_id": "t-deny", "tool_input": {"command": "rm -rf /"}});
    let secret = json!({"tool_use_id": "t-secret", "tool_input": {"command": format!("echo {SECRET}")}});
    for event in [
        payload("SessionStart"),
        changed("UserPromptSubmit", &json!({"prompt": NASTY})),
        payload("PreToolUse"),
        payload("PostToolUse"),
        changed("PreToolUse", &json!({"tool_use_id": "t-fail", "tool_input": failing_input})),
        changed("PostToolUseFailure", &failing),
        changed("PreToolUse", &denied),
        payload("SubagentStart"),
        payload("variants/PreToolUse.subagent"),
        payload("variants/PostToolUse.subagent"),
        payload("SubagentStop"),
        changed("variants/PreToolUse.mcp", &json!({"tool_use_id": "t-mcp"})),
        changed("variants/PostToolUse.mcp", &json!({"tool_use_id": "t-mcp"})),
        changed("variants/PreToolUse.Edit", &json!({"tool_use_id": "t-edit"})),
        changed("variants/PostToolUse.Edit", &json!({"tool_use_id": "t-edit"})),
        changed("PreToolUse", &secret),
        changed("PostToolUse", &secret),
        payload("Stop"),
        payload("SessionEnd"),
        changed("PreToolUse", &json!({"session_id": OPEN, "tool_use_id": "t-open"})),
    ] {
        send(&place, &event);
    }
    place
}

/// The numbers of calls and of other events in both sessions.
pub(crate) const CALLS: u32 = 8;
pub(crate) const EVENTS: u32 = 7;

/// Runs an export, which must succeed.
pub(crate) fn export(place: &Place, args: &[&str]) -> Run {
    let all: Vec<&str> = ["audit", "export"].into_iter().chain(args.iter().copied()).collect();
    let run = place.run(&all);
    assert_eq!(run.code, 0, "{run:?}");
    run
}

/// The JSON objects of an export.
pub(crate) fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
