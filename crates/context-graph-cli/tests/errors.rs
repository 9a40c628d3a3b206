//! Each cause of failure in `docs/hooks.md` can happen, and is answered as described there.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, Run, send};
use serde_json::{Value, json};

const DOCS: &str = include_str!("../../../docs/hooks.md");

/// The causes in the docs' table.
fn documented() -> Vec<&'static str> {
    let (_, table) = DOCS.split_once("| `error_code` | when |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).unwrap()).collect()
}

const CALL: &str = r#"{"hook_event_name":"PreToolUse","session_id":"s","transcript_path":"","cwd":"","tool_name":"Read","tool_input":{},"tool_use_id":"t"}"#;

/// Causes this failure.
fn meet(cause: &str, place: &Place) -> Run {
    let misbehaving = |switch: &str| {
        let mut command = place.command(&["hooks", "event"]);
        command.env(switch, "1");
        send(command, CALL.as_bytes())
    };
    match cause {
        "parse" => place.send(&["hooks", "event"], "{"),
        "validation" => place.send(&["hooks", "pre-tool", "--session-id", "other"], CALL),
        "usage" => place.run(&["hooks", "pre-tool", "--no-such-flag"]),
        "timeout" => misbehaving("CONTEXT_GRAPH_TEST_HANG"),
        "internal" => misbehaving("CONTEXT_GRAPH_TEST_PANIC"),
        "storage" => {
            std::fs::write(place.project().join(".context-graph"), "in the way").unwrap();
            place.run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", "hi"])
        }
        "session_not_found" => {
            place.run(&["hooks", "session-start", "--session-id", "s"]).succeeded();
            place.run(&["session", "show", "no-such-session", "--json"])
        }
        "crisis" => {
            place.run(&["hooks", "session-start", "--session-id", "s"]).succeeded();
            let mut snapshot: Value =
                serde_json::from_str(&place.run(&["session", "load", "s"]).stdout).unwrap();
            snapshot["last_ic"] = json!(0.125);
            assert_eq!(place.send(&["session", "save"], snapshot.to_string()).code, 0);
            place.run(&["session", "status", "s", "--fail-in-crisis", "--json"])
        }
        "call_not_found" => {
            place.run(&["hooks", "session-start", "--session-id", "s"]).succeeded();
            place.run(&["audit", "show", "no-such-call", "--json"])
        }
        "policy" => {
            place.trusted_file("policy.toml", "no such = thing");
            place.send(&["hooks", "event"], CALL)
        }
        other => panic!("nobody knows how to meet `{other}`"),
    }
}

#[test]
fn every_cause_that_the_docs_name_can_be_met() {
    let documented = documented();
    assert!(documented.len() >= 8, "{documented:?}");
    for cause in documented {
        let run = meet(cause, &Place::new());
        if cause == "policy" {
            // The call is still decided: it asks.
            let answer = run.succeeded();
            assert_eq!((&answer["error_code"], &answer["ruling"]["verdict"]), (&json!(cause), &json!("ask")));
            assert!(answer["notices"].to_string().contains("policy.toml"), "{answer}");
            continue;
        }
        assert_eq!(run.code, 1, "{cause}: {run:?}");
        let answer = run.json();
        assert_eq!(answer["error_code"], cause, "{run:?}");
        let words = if answer["success"] == false { &answer["error"] } else { &answer["message"] };
        assert!(!words.as_str().unwrap().is_empty() && !run.stderr.is_empty(), "{run:?}");
    }
}
