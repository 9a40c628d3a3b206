//! Every input that is accepted does what it says: flags, envelope fields and the specification's own scripts.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, Run};
use serde_json::{Value, json};

const AT: i64 = 1_705_312_345_678;

fn envelope(kind: &str, data: &Value) -> String {
    json!({"hook_type": kind, "session_id": "s", "timestamp_ms": AT, "payload": {"type": kind, "data": data}})
        .to_string()
}

fn answer(place: &Place, args: &[&str]) -> Value {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn show(place: &Place) -> Value {
    answer(place, &["session", "show", "s", "--json"])
}

fn outcomes(place: &Place) -> Vec<String> {
    let log = answer(place, &["audit", "log", "--json", "--limit", "0", "--tool", "*"]);
    let of = |call: &Value| call["outcome"].as_str().unwrap().to_owned();
    log.as_array().unwrap().iter().map(of).collect()
}

fn ended(place: &Place, data: &Value) -> Run {
    place.send(&["hooks", "session-end", "--stdin"], envelope("session_end", data))
}

/// One failed call, told in different ways, is a failure for every reader.
fn is_one_failure(place: &Place, why: &str) {
    let shown = show(place);
    assert_eq!(shown["counters"]["calls_failed"], 1, "{why}: {shown}");
    assert_eq!(shown["counters"]["calls_succeeded"], 0, "{why}: {shown}");
    assert!(shown["events"].to_string().contains("failed: "), "{why}: {shown}");
    assert_eq!(outcomes(place), ["failure"], "{why}");
    let told = place.run(&["consciousness", "inject", "s"]);
    assert!(told.stdout.contains("Failed and not seen to succeed since: Bash"), "{why}: {told:?}");
    let export = place.run(&["audit", "export", "--format", "csv"]).stdout;
    assert!(export.contains("\"failure\"") && !export.contains("\"success\","), "{why}: {export}");
}

#[test]
fn a_call_that_the_flag_calls_failed_is_a_failure_everywhere() {
    let place = Place::new();
    let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", "false"];
    place.run(&flags).succeeded();
    is_one_failure(&place, "the flag alone");

    let place = Place::new();
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "x"}});
    place
        .send(&["hooks", "post-tool", "--success", "false", "--stdin"], envelope("post_tool_use", &call))
        .succeeded();
    is_one_failure(&place, "the flag with a result that does not say");
}

#[test]
fn a_failure_in_the_payload_is_a_failure_everywhere() {
    let input = json!({"command": "make"});
    for data in [
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": false, "error": "no rule"}}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": false}}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {}, "error": "no rule"}),
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": {"success": true}, "error": ""}),
        json!({"tool_name": "Bash", "tool_output": null, "error": "no rule"}),
    ] {
        let place = Place::new();
        place.send(&["hooks", "post-tool", "--stdin"], envelope("post_tool_use", &data)).succeeded();
        is_one_failure(&place, &data.to_string());
    }
    let place = Place::new();
    let native = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
        "tool_name": "Bash", "tool_input": input, "tool_use_id": "t", "tool_response": {"success": false}});
    place.send(&["hooks", "event"], native.to_string()).succeeded();
    is_one_failure(&place, "the client's own event");
}

#[test]
fn what_the_client_reports_as_done_is_not_taken_for_a_failure() {
    let place = Place::new();
    for (id, response) in [
        ("a", json!({"stdout": "error: 3 failed", "stderr": "warning", "interrupted": false})),
        ("b", json!({"type": "text", "file": {"content": "{\"success\": false}"}})),
        ("c", json!([{"type": "text", "text": "{\"error\": \"x\"}"}])),
        ("d", json!({"error": null, "isError": false})),
    ] {
        let native = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
            "tool_name": "Bash", "tool_input": {}, "tool_use_id": id, "tool_response": response});
        place.send(&["hooks", "event"], native.to_string()).succeeded();
    }
    assert_eq!(show(&place)["counters"]["calls_succeeded"], 4);
    assert_eq!(outcomes(&place), ["success"; 4]);
}

#[test]
fn a_success_that_stdin_contradicts_is_refused() {
    let place = Place::new();
    let failed = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"success": false}});
    let went_well = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"success": true}});
    for (flag, data) in [("true", &failed), ("false", &went_well)] {
        let run = place.send(&["hooks", "post-tool", "--success", flag], envelope("post_tool_use", data));
        let error = run.failed("validation");
        assert!(error.contains("--success"), "{error}");
    }
    // An empty flag says nothing, and one that agrees adds nothing.
    for flag in ["", "false"] {
        place
            .send(&["hooks", "post-tool", "--success", flag], envelope("post_tool_use", &failed))
            .succeeded();
    }
    // What was refused is on record all the same, as stdin told it.
    assert_eq!(show(&place)["counters"]["calls_failed"], 3);
    assert_eq!(show(&place)["counters"]["calls_succeeded"], 1);
}

#[test]
fn the_same_failure_again_and_again_is_a_loop_however_it_is_told() {
    let place = Place::new();
    let data = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": null, "error": "no rule"});
    for _ in 0..3 {
        place.send(&["hooks", "post-tool"], envelope("post_tool_use", &data)).succeeded();
    }
    let told = place.send(&["hooks", "post-tool"], envelope("post_tool_use", &data)).succeeded();
    let text = format!("{told}{}", place.run(&["session", "show", "s"]).stdout);
    assert!(text.contains("repeated itself") || text.contains("the same failure"), "{text}");
}

#[test]
fn failures_by_flag_make_a_loop_and_successes_do_not() {
    let repeated = |success: &str| {
        let place = Place::new();
        let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", success];
        for _ in 0..4 {
            place.run(&flags).succeeded();
        }
        show(&place)["counters"]["dreams"].clone()
    };
    assert_eq!((repeated("false"), repeated("true")), (json!(1), json!(0)));
}

#[test]
fn durations_are_those_of_the_sender_with_ours_beside_them() {
    let place = Place::new();
    let call = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}, "duration_ms": 4321});
    place.send(&["hooks", "post-tool"], envelope("post_tool_use", &call)).succeeded();
    let log = answer(&place, &["audit", "log", "--json", "--tool", "*"]);
    assert_eq!(log[0]["duration_ms"], 4321, "{log}");

    let end =
        ended(&place, &json!({"duration_ms": 3_600_000, "status": "normal", "reason": "exit"})).succeeded();
    let summary = end["session_summary"].as_str().unwrap();
    assert!(summary.contains("1 h 0 min") && summary.contains("measured"), "{summary}");
    let shown = show(&place);
    assert_eq!((&shown["duration_ms"], &shown["measured_duration_ms"]), (&json!(3_600_000), &json!(0)));
    assert!(place.run(&["session", "list"]).stdout.contains("1 h 0 min"));
    assert!(place.run(&["audit", "log"]).stdout.contains("3600000 ms"), "{:?}", place.run(&["audit", "log"]));
}

#[test]
fn the_flag_for_the_duration_counts_where_stdin_does_not_say() {
    let place = Place::new();
    let native = json!({"hook_event_name": "SessionEnd", "session_id": "s", "transcript_path": "", "cwd": "",
        "reason": "clear"});
    place.send(&["hooks", "session-end", "--duration-ms", "90000"], native.to_string()).succeeded();
    let shown = show(&place);
    assert_eq!((&shown["duration_ms"], &shown["end_status"]), (&json!(90_000), &json!("clear")));
    let run = place.send(
        &["hooks", "session-end", "--duration-ms", "7"],
        envelope("session_end", &json!({"duration_ms": 8, "status": "normal", "reason": "exit"})),
    );
    assert!(run.failed("validation").contains("--duration-ms"));
}

#[test]
fn how_a_session_ended_is_kept_and_told() {
    for status in ["normal", "timeout", "error", "user_abort", "clear", "logout"] {
        let place = Place::new();
        place
            .run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", "tidy the parser"])
            .succeeded();
        ended(&place, &json!({"duration_ms": 1, "status": status, "reason": "exit"})).succeeded();
        let shown = show(&place);
        assert_eq!((&shown["end_status"], &shown["end_reason"]), (&json!(status), &json!("exit")));
        for told in [
            &["session", "list"][..],
            &["session", "show", "s"],
            &["session", "status", "s"],
            &["audit", "log"],
        ] {
            let text = place.run(told).stdout;
            assert!(text.contains(&format!("{status} (exit)")), "{told:?}: {text}");
        }
        let otlp = place.run(&["audit", "export", "--format", "otlp-json"]).stdout;
        assert!(otlp.contains("context_graph.end_status"), "{otlp}");
        let next = place.run(&["hooks", "session-start", "--session-id", "next"]).succeeded();
        let injected = next["context_injection"].as_str().unwrap_or("").contains("It ended ");
        assert_eq!(injected, ["timeout", "error", "user_abort"].contains(&status), "{status}: {next}");
        let exported = place.run(&["session", "export", "s"]).stdout;
        assert!(exported.contains(&format!("\"status\":\"{status}\"")), "{exported}");
    }
}

#[test]
fn the_clients_reason_for_the_end_maps_to_a_status() {
    for (reason, status) in
        [("clear", "clear"), ("logout", "logout"), ("prompt_input_exit", "user_abort"), ("other", "error")]
    {
        let place = Place::new();
        let native = json!({"hook_event_name": "SessionEnd", "session_id": "s", "transcript_path": "", "cwd": "",
            "reason": reason});
        place.send(&["hooks", "event"], native.to_string()).succeeded();
        assert_eq!(show(&place)["end_status"], status);
    }
}

#[test]
fn the_conversation_before_a_prompt_is_kept_without_its_secrets() {
    let place = Place::new();
    let secret = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    let long = "word ".repeat(20_000);
    let mut context = vec![json!({"role": "assistant", "content": long}); 20];
    context.push(json!({"role": "user", "content": format!("use {secret} for the zebrafish import")}));
    let data = json!({"prompt": "go on with that", "context": context});
    place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
    let exported = place.run(&["session", "export", "s"]).stdout;
    assert!(exported.contains("zebrafish") && exported.contains("go on with that"), "{exported}");
    assert!(!exported.contains(secret), "a secret of the conversation is stored");
    assert!(exported.len() < 100_000, "{}", exported.len());
}

#[test]
fn work_that_the_conversation_asked_for_is_on_task() {
    let ic_after = |context: Value| {
        let place = Place::new();
        let data = json!({"prompt": "yes please", "context": context});
        place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
        let read = |path: &str| {
            json!({"tool_name": "Read", "tool_input": {"file_path": path},
                "tool_response": {"file": {"content": format!("fn tokenize() {{}} // {path}")}}})
        };
        for at in 0..12 {
            let call = envelope("post_tool_use", &read(&format!("src/lexer/part{at}.rs")));
            place.send(&["hooks", "post-tool"], call).succeeded();
        }
        for at in 0..4 {
            let mut call = read(&format!("billing/invoices/ledger{at}.py"));
            call["tool_response"] =
                json!({"file": {"content": "def settle_invoice(customer): refund(customer)"}});
            place.send(&["hooks", "post-tool"], envelope("post_tool_use", &call)).succeeded();
        }
        show(&place)["ic"]["value"].as_f64().unwrap()
    };
    let talk = "then settle each customer invoice in billing/invoices/ledger1.py and refund";
    let nothing = ic_after(json!([]));
    let asked = ic_after(json!([{"role": "user", "content": talk}]));
    let said = ic_after(json!([{"role": "assistant", "content": talk}]));
    assert!(asked > nothing && said > nothing, "{asked} {said} {nothing}");
    assert!(asked >= said, "the user's words weigh most: {asked} {said}");
}

#[test]
fn a_message_without_role_or_content_is_a_parse_error_that_names_it() {
    let place = Place::new();
    let good = json!({"role": "user", "content": "hi"});
    for (bad, field) in [
        (json!({"role": "", "content": "x"}), "payload.data.context[1].role"),
        (json!({"role": "user", "content": ""}), "payload.data.context[1].content"),
        (json!({"content": "x"}), "payload.data.context[1].role"),
        (json!({"role": "user"}), "payload.data.context[1].content"),
        (json!({"role": 3, "content": "x"}), "payload.data.context[1].role"),
    ] {
        let data = json!({"prompt": "p", "context": [good, bad]});
        let error =
            place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).failed("parse");
        assert!(error.contains(field), "{error}");
    }
}
