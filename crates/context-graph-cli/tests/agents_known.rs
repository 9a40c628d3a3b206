//! Where logs, exports and counts name the agent of a session.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

const CODEX: &str = "codex-c1";

/// A place with a session of Claude Code and one of Codex, one call each.
fn two_clients() -> Place {
    let place = Place::without_upkeep();
    let common = json!({"transcript_path": "/t", "cwd": place.project()});
    for (id, turn, command) in [("a1", None, "echo claude"), ("c1", Some("t1"), "echo codex")] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("u-{id}")});
        for (event, own) in [
            ("SessionStart", json!({"source": "startup"})),
            ("UserPromptSubmit", json!({"prompt": "say hello"})),
            ("PreToolUse", call.clone()),
            ("PostToolUse", call),
            ("Stop", json!({"stop_hook_active": false})),
        ] {
            let mut payload = common.clone();
            let object = payload.as_object_mut().unwrap();
            object.extend(own.as_object().unwrap().clone());
            object.insert("hook_event_name".to_owned(), event.into());
            object.insert("session_id".to_owned(), id.into());
            if event == "PostToolUse" {
                object.insert("tool_response".to_owned(), "hello".into());
            }
            if let Some(turn) = turn {
                object.insert("turn_id".to_owned(), turn.into());
            }
            let run = place.send(&["hooks", "event"], payload.to_string());
            assert_eq!(run.code, 0, "{event}: {run:?}");
        }
    }
    place
}

fn list(place: &Place, args: &[&str]) -> Vec<Value> {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_log_names_the_client_and_can_be_asked_for_one() {
    let place = two_clients();
    let of = |client: &str| list(&place, &["audit", "log", "--json", "--tool", "Bash", "--client", client]);
    for (client, subject) in [("claude-code", "echo claude"), ("codex", "echo codex")] {
        let found = of(client);
        assert_eq!(found.len(), 1, "{client}: {found:?}");
        assert_eq!((&found[0]["client"], &found[0]["subject"]), (&json!(client), &json!(subject)));
    }
    assert_eq!(of("claude-code,codex").len(), 2);
    assert_eq!(of("gemini").len(), 0);
    let unknown = place.run(&["audit", "log", "--client", "emacs"]);
    assert!(unknown.code == 1 && unknown.stderr.contains("claude-code"), "{unknown:?}");
}

#[test]
fn a_call_a_session_and_the_counts_name_it() {
    let place = two_clients();
    let call = place.run(&["audit", "show", "u-c1"]).stdout;
    assert!(call.contains("client      Codex") && call.contains("Codex reported the result"), "{call}");
    assert!(place.run(&["session", "show", CODEX]).stdout.contains("Codex"));
    let stats = place.run(&["audit", "stats"]).stdout;
    assert!(stats.contains("by agent"), "{stats}");
    let stats = place.run(&["audit", "stats", "--json"]).json();
    let mut clients: Vec<(String, u64, u64)> =
        stats["clients"].as_array().unwrap().iter().map(counted).collect();
    clients.sort();
    assert_eq!(clients, [("claude-code".to_owned(), 1, 1), ("codex".to_owned(), 1, 1)]);
}

fn counted(client: &Value) -> (String, u64, u64) {
    let number = |key: &str| client[key].as_u64().unwrap();
    (client["client"].as_str().unwrap().to_owned(), number("sessions"), number("calls"))
}

#[test]
fn every_export_names_it() {
    let place = two_clients();
    let export =
        |format: &str| place.run(&["audit", "export", "--format", format, "--session", CODEX]).stdout;
    let csv = export("csv");
    assert!(csv.lines().next().unwrap().ends_with(",client") && csv.contains("\"codex\""), "{csv}");
    assert!(export("jsonl").contains("\"client\":\"codex\""));
    let trace = export("otlp-json");
    assert!(trace.contains("\"stringValue\":\"codex\"") && !trace.contains("anthropic"), "{trace}");
    let only = place.run(&["audit", "export", "--format", "jsonl", "--client", "codex"]).stdout;
    assert!(only.contains("echo codex") && !only.contains("echo claude"), "{only}");
}
