//! A project in which something has happened: a session told by the client's recorded payloads, and a second one that
//! still goes on.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, Run};

/// The recorded session.
pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";
/// The one that goes on.
pub(crate) const OPEN: &str = "11111111-0000-4000-8000-000000000001";
/// A made-up token of a known kind.
pub(crate) const SECRET: &str = "ghp_Zx81kQmV0c3RhTnB2eWRrTGd4bUpzQ2Z1aHq";
/// What a spreadsheet would run, what a terminal would obey and what nobody would see.
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

/// Has the real binary take an event in.
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

/// How many calls and other events there are in all.
pub(crate) const CALLS: u32 = 8;
pub(crate) const EVENTS: u32 = 7;

/// Exports, which must succeed.
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
