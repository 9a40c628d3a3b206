//! Tool calls by flags, on the full path, or malformed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, Run};
use serde_json::json;

fn asks(run: &Run, why: &str) {
    assert_eq!(run.code, 1, "{why}: {run:?}");
    let answer = run.json();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{why}: {answer}");
    assert_eq!(answer["success"], false, "{why}: {answer}");
}

#[test]
fn a_call_by_flags_is_not_judged_on_the_input_it_does_not_have() {
    let place = Place::new();
    for tool in ["Read", "Bash", "Write", "mcp__x__y"] {
        let run = place.run(&["hooks", "pre-tool", "--session-id", "s", "--tool-name", tool, "--fast-path"]);
        let answer = run.succeeded();
        assert_eq!((answer.get("ruling"), answer.get("hookSpecificOutput")), (None, None), "{answer}");
        assert!(answer["notices"].to_string().contains("send the event on stdin"), "{answer}");
    }
    // The same call with an empty input is judged by that input.
    let call = json!({"hook_type": "pre_tool_use", "session_id": "s", "timestamp_ms": 5, "payload": {
        "type": "pre_tool_use", "data": {"tool_name": "Bash", "tool_input": {}, "tool_use_id": null}}});
    let answer = place.send(&["hooks", "pre-tool"], call.to_string()).succeeded();
    assert_eq!(answer["ruling"]["verdict"], "ask", "{answer}");
}

#[test]
fn a_policy_that_goes_by_the_tools_name_is_heard_for_a_call_by_flags() {
    let place = Place::new();
    place.rego(
        "no_fetch.rego",
        "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n#     required_tools: [\"WebFetch\"]\npackage cupcake.policies.no_fetch\nimport rego.v1\n\ndeny contains d if {\n\tinput.tool_name == \"WebFetch\"\n\td := {\"rule_id\": \"no-fetch\", \"reason\": \"no network\", \"severity\": \"HIGH\"}\n}\n",
    );
    let run = place.run(&["hooks", "pre-tool", "--session-id", "s", "--tool-name", "WebFetch"]);
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
}

#[test]
fn a_call_that_cannot_be_read_asks_in_either_form() {
    let place = Place::new();
    for broken in [
        r#"{"hook_type":"pre_tool_use","session_id":"s","timestamp_ms":1,"payload":{"type":"pre_tool_use","data":{"tool_input":{}}}}"#,
        r#"{"hook_type":"pre_tool_use","session_id":"","timestamp_ms":1,"payload":{"type":"pre_tool_use","data":{"tool_name":"Bash","tool_input":{}}}}"#,
        r#"{"hook_type":"pre_tool_use","session_id":"s","timestamp_ms":1,"payload":{"type":"session_end","data":{}}}"#,
        r#"{"hook_type":"pre_tool_use","session_id":"s""#,
        r#"{"hook_type":"pre_tool_use","hook_event_name":"PreToolUse"}"#,
        r#"{"hook_event_name":"PreToolUse","session_id":"s"}"#,
        r#"{"hook_event_name":"PreToolUse","#,
    ] {
        asks(&place.send(&["hooks", "event"], broken), broken);
        asks(&place.send(&["hooks", "pre-tool"], broken), broken);
    }
    for nothing in ["garbage", r#"{"hook_type":"session_end"}"#, r#"{"a":1}"#] {
        let run = place.send(&["hooks", "event"], nothing);
        assert_eq!(run.json().get("hookSpecificOutput"), None, "{run:?}");
        run.failed("parse");
    }
}

#[test]
fn the_full_road_loads_the_session_and_answers_with_it_stepped() {
    let place = Place::new();
    let flags = |fast: &'static str| ["hooks", "pre-tool", "--session-id", "s", "--tool-name", "Read", fast];
    place.run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", "tidy the parser"]).succeeded();
    place.run(&["hooks", "session-end", "--session-id", "s"]).succeeded();
    // The session is only in the store: the fast path does not see it, the full one does.
    let full = place.run(&flags("--fast-path=false")).succeeded();
    assert!(full["consciousness_state"].is_object(), "{full}");
    assert!(full["notices"].to_string().contains("is open again"), "{full}");
    place.run(&["hooks", "session-end", "--session-id", "s"]).succeeded();
    let fast = place.run(&flags("--fast-path")).succeeded();
    assert_eq!(fast.get("consciousness_state"), None, "{fast}");
    // The next hook reports once what the fast hook did not report.
    let result =
        || place.run(&["hooks", "post-tool", "--session-id", "s", "--tool-name", "Read"]).succeeded();
    let told = result();
    assert!(told["notices"].to_string().contains("session s had ended and is open again"), "{told}");
    let later = result();
    assert_eq!(later.get("notices"), None, "{later}");
    let shown = place.run(&["session", "show", "s", "--json"]).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["counters"]["calls_asked"], 2, "{shown}");
}

#[test]
fn the_full_road_refuses_what_the_fast_one_refuses() {
    let place = Place::new();
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t"});
    for path in ["--fast-path=true", "--fast-path=false"] {
        let answer = place.send(&["hooks", "pre-tool", path], call.to_string()).succeeded();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
        assert_eq!(answer["ruling"]["verdict"], "deny", "{answer}");
    }
}
