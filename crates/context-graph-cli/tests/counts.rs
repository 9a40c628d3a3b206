//! One session, one set of numbers: everything that counts events agrees.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

/// A session with a call of every kind, two prompts from a person, one from the client, and two turns.
fn payloads(place: &Place) -> Vec<Value> {
    let event = |name: &str, own: Value| {
        let mut event = json!({"hook_event_name": name, "session_id": "counted-session", "transcript_path": "", "cwd": place.project()});
        event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        event
    };
    let call = |id: &str, command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
    let with = |mut call: Value, key: &str, value: Value| {
        call[key] = value;
        call
    };
    let mut all = vec![
        event("SessionStart", json!({"source": "startup"})),
        event("UserPromptSubmit", json!({"prompt": "rename the parser module"})),
        event("PreToolUse", call("t1", "echo ran")),
        event("PostToolUse", with(call("t1", "echo ran"), "tool_response", json!({"stdout": "ran"}))),
        event("PreToolUse", call("t2", "false")),
        event("PostToolUseFailure", with(call("t2", "false"), "error", json!("exit code 1"))),
        event("PreToolUse", call("t3", "rm -rf ~")),
        event("PreToolUse", call("t4", "git push")),
        event("PermissionDenied", with(call("t4", "git push"), "reason", json!("the user said no"))),
        event("PreToolUse", call("t5", "sleep 9")),
    ];
    // The client asked the user about the fifth call, and the user said no. The sixth and seventh have no
    // request.
    let told = |id: &str, response: &str| json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": id, "tool_response": response});
    let batch = [
        told("t1", "ran"),
        told("t2", "exit code 1"),
        told("t3", "PreToolUse:Bash hook error: no"),
        told("t4", "the user said no"),
        told("t5", "The user doesn't want to proceed with this tool use."),
        told("t6", "<tool_use_error>No such tool available</tool_use_error>"),
        told("t7", "found"),
    ];
    all.extend([
        event("PostToolBatch", json!({"tool_calls": batch})),
        event("Stop", json!({"stop_hook_active": false})),
        event("UserPromptSubmit", json!({"prompt": "<task-notification>done</task-notification>"})),
        event("UserPromptSubmit", json!({"prompt": "and now the tests"})),
        event("Stop", json!({"stop_hook_active": false})),
        event("Stop", json!({"stop_hook_active": true})),
    ]);
    all
}

/// Calls, succeeded, failed, denied, prompts, turns.
const TRUTH: [u64; 6] = [7, 2, 2, 3, 2, 2];

fn of_counters(counters: &Value) -> [u64; 6] {
    ["calls", "calls_succeeded", "calls_failed", "calls_denied", "prompts", "turns"]
        .map(|key| counters[key].as_u64().unwrap_or_else(|| panic!("{key} in {counters}")))
}

fn value(place: &Place, args: &[&str]) -> Value {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error} in {run:?}"))
}

/// The text of a page, with one space between its parts.
fn words_of(page: &str) -> String {
    let parts = page.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    parts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Checks every command, the status line, the tables, the exports and the dashboard's pages.
fn all_tell_the_truth(place: &Place, moment: &str) {
    let calls = &TRUTH[..4];
    let status = value(place, &["session", "status", "--json"]);
    assert_eq!(of_counters(&status["counters"]), TRUTH, "session status, {moment}");
    let shown = value(place, &["session", "show", "--json"]);
    assert_eq!(of_counters(&shown["counters"]), TRUTH, "session show, {moment}");
    let listed = value(place, &["session", "list", "--json"]);
    assert_eq!(of_counters(&listed[0]["counters"]), TRUTH, "session list, {moment}");
    let text = place.run(&["session", "status"]).stdout;
    assert!(
        text.contains("2 prompts, 7 tool calls (2 succeeded, 2 failed, 0 interrupted, 3 denied), 2 turns"),
        "{moment}: {text}"
    );
    let counted = value(place, &["audit", "stats", "--json"]);
    let outcome = |of: &Value, name: &str| of["outcomes"][name].as_u64().unwrap();
    let told = |of: &Value| {
        [of["calls"].as_u64().unwrap(), outcome(of, "success"), outcome(of, "failure"), outcome(of, "denied")]
    };
    assert_eq!(told(&counted), calls, "audit stats, {moment}");
    assert_eq!(told(&counted["days"][0]), calls, "audit stats by day, {moment}");
    assert_eq!(counted["days"][0]["prompts"], TRUTH[4], "audit stats by day, {moment}");
    for (filter, count) in [("success", 2), ("failure", 2), ("denied", 3)] {
        let log = value(place, &["audit", "log", "--json", "--outcome", filter]);
        assert_eq!(log.as_array().unwrap().len(), count, "audit log, {moment}: {log}");
    }
    let said = json!({"session_id": "counted-session", "workspace": {"project_dir": place.project()}});
    let line = place.send(&["statusline"], said.to_string()).stdout;
    assert!(line.contains("7 calls · 2 failed · 3 denied"), "the status line, {moment}: {line}");
    // The page uses the same queries as the dashboard.
    value(place, &["audit", "report", "--html", "page.html", "--force", "--json"]);
    let page = std::fs::read_to_string(place.project().join("page.html")).unwrap();
    let words = words_of(&page);
    assert!(words.contains("7 calls 2 failed 3 denied"), "the dashboard, {moment}: {words}");
    assert!(words.contains("2 prompts"), "the dashboard, {moment}: {words}");
    let export = place.run(&["audit", "export", "--format", "jsonl"]);
    let exported = export.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let denied = exported.filter(|entry| entry["outcome"] == "denied").count();
    assert_eq!(denied, 3, "audit export, {moment}: {export:?}");
}

#[test]
fn every_verb_tells_the_same_numbers() {
    let place = Place::without_upkeep();
    for payload in payloads(&place) {
        let run = place.send(&["hooks", "event"], payload.to_string());
        assert_eq!(run.code, 0, "{run:?}");
    }
    all_tell_the_truth(&place, "while it is open");
    let sql = value(&place, &["audit", "sql", "--json", "SELECT prompts, calls, failures FROM v_sessions"]);
    let row = sql["rows"].get(0).or_else(|| sql.get(0)).unwrap_or_else(|| panic!("{sql}"));
    let numbers: Vec<u64> = match row {
        Value::Array(cells) => cells.iter().map(|cell| cell.as_u64().unwrap()).collect(),
        row => ["prompts", "calls", "failures"].map(|key| row[key].as_u64().unwrap()).to_vec(),
    };
    assert_eq!(numbers, [2, 7, 2], "audit sql: {sql}");
    let lines: Vec<String> = payloads(&place).iter().map(Value::to_string).collect();
    let replayed = place.send(&["replay", "--events", "-"], lines.join("\n"));
    // A replay uses no rules, so a denied call gets its outcome from the batch.
    let told = "2 prompts, 7 tool calls (2 succeeded, 2 failed, 0 interrupted, 3 denied), 2 turns";
    assert!(replayed.stdout.contains(told), "replay: {replayed:?}");
}
