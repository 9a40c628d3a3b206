//! Every word of an input counts, and two that disagree are told: results, flags, conversations and late senders.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::Write as _;
use std::process::Stdio;

use common::{Place, Run};
use serde_json::{Value, json};

const AT: i64 = 1_705_312_345_678;

fn envelope(kind: &str, data: &Value) -> String {
    json!({"hook_type": kind, "session_id": "s", "timestamp_ms": AT, "payload": {"type": kind, "data": data}})
        .to_string()
}

fn done(response: &Value) -> String {
    envelope("post_tool_use", &json!({"tool_name": "Bash", "tool_input": {}, "tool_response": response}))
}

fn post(place: &Place, more: &[&str], event: &str) -> Run {
    place.send(&[&["hooks", "post-tool", "--stdin"], more].concat(), event)
}

fn outcomes(place: &Place) -> Vec<String> {
    let log = place.run(&["audit", "log", "--json", "--limit", "0", "--tool", "*"]);
    let log: Value = serde_json::from_str(&log.stdout).unwrap();
    log.as_array().unwrap().iter().map(|call| call["outcome"].as_str().unwrap().to_owned()).collect()
}

fn native(name: &str, more: Value) -> String {
    let mut event = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "", "cwd": ""});
    event.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    event.to_string()
}

#[test]
fn any_sign_of_failure_outweighs_every_sign_of_success() {
    for response in [
        json!({"success": true, "error": "x"}),
        json!({"success": true, "error": {"message": "x"}}),
        json!({"success": "false"}),
        json!({"success": 0}),
        json!({"is_error": "true"}),
        json!({"success": true, "isError": 1}),
    ] {
        let place = Place::new();
        post(&place, &[], &done(&response)).succeeded();
        assert_eq!(outcomes(&place), ["failure"], "{response}");
    }
    for response in [json!({"success": "true"}), json!({"success": 3}), json!({"success": 1, "error": ""})] {
        let place = Place::new();
        post(&place, &[], &done(&response)).succeeded();
        assert_eq!(outcomes(&place), ["success"], "{response}");
    }
}

#[test]
fn a_flag_that_stdin_contradicts_is_an_error_and_the_call_is_on_record_as_stdin_tells_it() {
    let older =
        envelope("post_tool_use", &json!({"tool_name": "Bash", "tool_output": "fine", "error": null}));
    for (flag, event, outcome) in [
        ("true", done(&json!({"interrupted": true})), "interrupted"),
        ("true", done(&json!({"success": false, "error": "no"})), "failure"),
        ("false", older, "success"),
    ] {
        let place = Place::new();
        let error = post(&place, &["--success", flag], &event).failed("validation");
        assert!(error.contains("--success") && error.contains("on record"), "{error}");
        assert_eq!(outcomes(&place), [outcome], "{event}");
    }
}

#[test]
fn the_specifications_script_does_not_lose_a_call_that_failed_in_its_response() {
    // Section 5.3, word for word but for `jq`, which may not be there: `.payload.data.error == null` is true here.
    let place = Place::new();
    let run = place.send(
        &[
            "hooks",
            "post-tool",
            "--session-id",
            "s",
            "--tool-name",
            "Bash",
            "--success",
            "true",
            "--stdin",
            "--format",
            "json",
        ],
        done(&json!({"success": false, "error": "no"})),
    );
    run.failed("validation");
    assert_eq!(outcomes(&place), ["failure"]);
    let shown = place.run(&["session", "show", "s"]).stdout;
    assert!(shown.contains("Bash failed: no"), "{shown}");
}

#[test]
fn a_duration_below_nothing_is_an_error_that_names_the_field() {
    let place = Place::new();
    let event = native(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "tool_response": {}, "duration_ms": -1}),
    );
    let error = place.send(&["hooks", "event"], event).failed("parse");
    assert!(error.contains("duration_ms") && error.contains("0 or more"), "{error}");
}

#[test]
fn what_the_user_asked_for_before_is_the_purpose_of_a_prompt_that_goes_on() {
    let place = Place::new();
    let context = json!([
        {"role": "user", "content": "mend the zebrafish importer"},
        {"role": "assistant", "content": "shall I change the parser?"},
        {"role": "user", "content": "only the tokenizer"},
    ]);
    let prompt = envelope("user_prompt_submit", &json!({"prompt": "go on", "context": context}));
    place.send(&["hooks", "prompt-submit"], &prompt).succeeded();
    let told = place.run(&["consciousness", "inject", "s"]).stdout;
    assert!(told.contains("The user asked: \"mend the zebrafish importer\""), "{told}");
    assert!(told.contains("only the tokenizer") && told.contains("go on"), "{told}");
    assert!(!told.contains("shall I"), "{told}");
    let why = place.run(&["session", "show", "s", "--explain"]).stdout;
    assert!(why.contains("the purpose: \"mend the zebrafish importer\""), "{why}");
    // A conversation that is given again says nothing new.
    place.send(&["hooks", "prompt-submit"], &prompt).succeeded();
    let again = place.run(&["consciousness", "inject", "s"]).stdout;
    assert_eq!(again.matches("only the tokenizer").count(), 1, "{again}");
}

#[test]
fn of_a_message_before_a_prompt_as_much_is_kept_for_good_as_of_any_text() {
    let place = Place::new();
    let content = format!("{}{}", "a".repeat(1400), "z".repeat(600));
    let data = json!({"prompt": "go on", "context": [{"role": "assistant", "content": content}]});
    place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &data)).succeeded();
    let exported = place.run(&["session", "export", "s"]).stdout;
    let (head, tail) = ("a".repeat(512), "z".repeat(192));
    assert!(exported.contains(&head) && exported.contains(&tail), "{exported}");
    assert!(!exported.contains(&"a".repeat(600)) && !exported.contains(&"z".repeat(300)), "{exported}");
}

#[test]
fn the_clients_form_is_held_to_the_same_messages() {
    let place = Place::new();
    for (context, field) in [
        (json!([{"role": "", "content": "x"}]), "context[0].role"),
        (json!([{"role": "user", "content": " "}]), "context[0].content"),
        (json!("talk"), "context"),
    ] {
        let event = native("UserPromptSubmit", json!({"prompt": "p", "context": context}));
        let error = place.send(&["hooks", "event"], event).failed("parse");
        assert!(error.contains(&format!("`{field}`")), "{error}");
    }
    let event = native("UserPromptSubmit", json!({"prompt": "p", "context": null}));
    place.send(&["hooks", "event"], event).succeeded();
}

#[test]
fn a_policy_sees_the_flags_word_in_the_response() {
    let place = Place::new();
    place.rego(
        "failed.rego",
        r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PostToolUse"]
package cupcake.policies.failed

import rego.v1

add_context contains "the call failed" if input.tool_response.success == false
"#,
    );
    let told = |success: &str| {
        let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Bash", "--success", success];
        place.run(&flags).succeeded().to_string().contains("the call failed")
    };
    assert!(told("false") && !told("true"));
}

/// What comes of a call whose sender begins so and then falls silent.
fn stalled(beginning: &str) -> Run {
    let place = Place::new();
    let mut child = place.command(&["hooks", "event"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (first, second) = beginning.split_at(beginning.len() / 2);
    for piece in [first, second] {
        stdin.write_all(piece.as_bytes()).unwrap();
        stdin.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_call_that_does_not_arrive_whole_in_time_asks() {
    let late = stalled(r#"{"hook_event_name":"PreToolUse","session_id":"x""#);
    let answer = late.json();
    assert_eq!((late.code, &answer["error_code"]), (1, &json!("timeout")), "{late:?}");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{late:?}");
    let late = stalled(r#"{"hook_event_name":"Stop","session_id":"x""#).json();
    assert_eq!((&late["error_code"], late.get("hookSpecificOutput")), (&json!("timeout"), None), "{late}");
}

#[test]
fn stdin_is_left_alone_where_that_is_said() {
    let place = Place::new();
    let flags = ["hooks", "prompt-submit", "--session-id", "a", "--prompt", "hello", "--stdin=false"];
    let other = envelope("user_prompt_submit", &json!({"prompt": "something else"}));
    place.send(&flags, &other).succeeded();
    let shown = place.run(&["session", "list", "--json"]).stdout;
    assert!(shown.contains("\"a\"") && !shown.contains("\"s\""), "{shown}");
    let error = place.send(&["hooks", "event", "--stdin=false"], &other).failed("usage");
    assert!(error.contains("--stdin=false"), "{error}");
}

#[test]
fn a_call_that_fails_counts_for_less_than_one_that_succeeds_and_a_run_of_them_for_less_still() {
    let measures = |success: &str, calls: usize| {
        let place = Place::new();
        let prompt = json!({"prompt": "mend the lexer in src/lexer"});
        place.send(&["hooks", "prompt-submit"], envelope("user_prompt_submit", &prompt)).succeeded();
        let mut last = Value::Null;
        for at in 0..calls {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": format!("cargo test lexer::part{at}")},
                "tool_response": {"stdout": format!("src/lexer/part{at}.rs: done")}});
            last = post(&place, &["--success", success], &envelope("post_tool_use", &call)).succeeded();
        }
        (last["ic_classification"]["value"].as_f64().unwrap(), last["consciousness_state"].clone())
    };
    let ((good, calm), (bad, shaken)) = (measures("true", 12), measures("false", 12));
    assert!(bad < good - 0.01, "{bad} {good}");
    assert_ne!(calm, shaken);
    let (one, _) = measures("false", 1);
    assert!(one <= measures("true", 1).0 && bad < one, "{one} {bad}");
    assert!(bad >= 0.7, "failures on the purpose are no drift: {bad}");
}

#[test]
fn what_is_said_names_the_form_that_was_sent_and_counts_in_words() {
    let place = Place::new();
    let start = envelope("session_start", &json!({"cwd": "/p", "source": "startup"}));
    let error = place.send(&["hooks", "post-tool"], &start).failed("validation");
    assert!(error.contains("hook_type is session_start") && error.contains("post_tool_use"), "{error}");
    let long = json!({"hook_event_name": "Stop", "session_id": "x".repeat(300), "transcript_path": "", "cwd": "",
        "stop_hook_active": false});
    let error = place.send(&["hooks", "event"], long.to_string()).failed("validation");
    assert!(error.contains("session_id: it has 300 bytes"), "{error}");

    let prompt = envelope("user_prompt_submit", &json!({"prompt": "hello"}));
    place.send(&["hooks", "prompt-submit"], prompt).succeeded();
    post(&place, &[], &done(&json!({"interrupted": true}))).succeeded();
    place.run(&["hooks", "post-tool", "--session-id", "s", "--tool-name", "Glob"]).succeeded();
    let resumed = envelope("session_start", &json!({"cwd": "/p", "source": "resume"}));
    let told = place.send(&["hooks", "session-start"], resumed).succeeded();
    assert!(told.to_string().contains("has 1 prompt and 2 tool calls"), "{told}");
    let shown = place.run(&["session", "show", "s"]).stdout;
    assert!(shown.contains("Bash interrupted"), "{shown}");
    let entries = place.run(&["audit", "log"]).stdout;
    assert!(entries.contains("Glob") && !entries.contains("null"), "{entries}");
}

#[test]
fn the_types_of_the_contract_are_where_the_specification_looks_for_them() {
    let types = std::fs::read_to_string("src/commands/hooks/types.rs").unwrap();
    for name in ["HookEventType", "HookPayload", "SessionEndStatus"] {
        assert!(types.contains(&format!("pub enum {name} ")), "{name}");
    }
}
