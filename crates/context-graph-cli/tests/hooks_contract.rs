//! The hooks as a caller sees them: real processes, real bytes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, recorded, send};
use context_graph_cli::commands::hooks::schema;
use serde_json::{Value, json};

const FIVE: [(&str, &str); 5] = [
    ("session-start", "SessionStart"),
    ("pre-tool", "PreToolUse"),
    ("post-tool", "PostToolUse"),
    ("prompt-submit", "UserPromptSubmit"),
    ("session-end", "SessionEnd"),
];

fn envelope(kind: &str) -> Value {
    let data = match kind {
        "session_start" => {
            json!({"cwd": "/home/user/project", "source": "startup", "previous_session_id": null})
        }
        "pre_tool_use" => {
            json!({"tool_name": "Read", "tool_input": {"file_path": "/tmp/test.rs"}, "tool_use_id": null})
        }
        "post_tool_use" => {
            json!({"tool_name": "Read", "tool_input": {}, "tool_response": {}, "tool_use_id": "t"})
        }
        "user_prompt_submit" => json!({"prompt": "hello", "context": [{"role": "user", "content": "hi"}]}),
        _ => json!({"duration_ms": 1000, "status": "normal", "reason": "exit"}),
    };
    json!({"hook_type": kind, "session_id": "s-1", "timestamp_ms": 1_705_312_345_678_i64,
        "payload": {"type": kind, "data": data}})
}

fn native(name: &str) -> Value {
    let file = recorded().into_iter().find(|(file, _)| file == &format!("{name}.json")).unwrap();
    serde_json::from_slice(&file.1).unwrap()
}

#[test]
fn every_recorded_payload_gets_exactly_one_object() {
    let place = Place::new();
    let validator = jsonschema::validator_for(&schema::hook_output()).unwrap();
    for (name, bytes) in recorded() {
        let run = place.send(&["hooks", "event", "--stdin"], bytes);
        if name.starts_with("PreCompact") || name.starts_with("PostCompact") {
            assert_eq!(run.code, 0, "{name}: {run:?}");
            assert!(!run.stdout.trim_start().starts_with('{'), "{name}: {run:?}");
        } else {
            let answer = run.succeeded();
            assert!(validator.is_valid(&answer), "{name}: {answer}");
            assert!(answer["execution_time_ms"].is_u64());
            assert_eq!(run.stdout.lines().count(), 1, "{name}");
        }
        assert_eq!(run.stderr, "", "{name}");
    }
}

#[test]
fn the_five_subcommands_take_both_forms() {
    let place = Place::new();
    for ((subcommand, name), kind) in FIVE.iter().zip([
        "session_start",
        "pre_tool_use",
        "post_tool_use",
        "user_prompt_submit",
        "session_end",
    ]) {
        place.send(&["hooks", subcommand, "--stdin"], native(name).to_string()).succeeded();
        place.send(&["hooks", subcommand, "--stdin"], envelope(kind).to_string()).succeeded();
        place.send(&["hooks", "event"], envelope(kind).to_string()).succeeded();
    }
}

#[test]
fn an_event_for_another_subcommand_is_refused_with_both_names() {
    let place = Place::new();
    for (subcommand, own) in FIVE {
        for (_, other) in FIVE.iter().filter(|(_, name)| *name != own) {
            let error = place.send(&["hooks", subcommand, "--stdin"], native(other).to_string());
            let error = error.failed("validation");
            assert!(error.contains(own) && error.contains(other), "{error}");
        }
        let stop = place.send(&["hooks", subcommand], native("Stop").to_string()).failed("validation");
        assert!(stop.contains("Stop"), "{stop}");
    }
}

#[test]
fn an_unknown_event_is_answered() {
    let place = Place::new();
    place
        .send(&["hooks", "event"], r#"{"hook_event_name":"FromTheFuture","session_id":"s","x":[1]}"#)
        .succeeded();
}

#[test]
fn flags_alone_describe_an_event() {
    let place = Place::new();
    let started = place.run(&["hooks", "session-start"]).succeeded();
    assert_eq!(started["session_id"].as_str().unwrap().len(), 36, "an id is made up and told");
    let named = place.run(&["hooks", "session-start", "--session-id", "s", "--previous-session-id", "p"]);
    assert_eq!(named.succeeded().get("session_id"), None);
    place.run(&["hooks", "pre-tool", "--session-id", "s", "--tool-name", "Read", "--fast-path"]).succeeded();
    place.run(&["hooks", "pre-tool", "--session-id=s", "--tool-name=Read", "--fast-path=false"]).succeeded();
    place
        .run(&["hooks", "post-tool", "--session-id", "s", "--tool-name", "Read", "--success", "true"])
        .succeeded();
    place
        .run(&["hooks", "post-tool", "--session-id", "s", "--tool-name", "Read", "--success=false"])
        .succeeded();
    place.run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", "hi"]).succeeded();
    place.run(&["hooks", "session-end", "--session-id", "s", "--duration-ms", "5"]).succeeded();
    place.run(&["hooks", "session-end", "--session-id", "s", "--generate-summary=false"]).succeeded();
}

#[test]
fn flags_that_say_too_little_name_what_is_missing() {
    let place = Place::new();
    for (args, missing) in [
        (&["hooks", "pre-tool"][..], "--session-id"),
        (&["hooks", "pre-tool", "--session-id", "s"], "--tool-name"),
        (&["hooks", "post-tool", "--session-id", "s"], "--tool-name"),
        (&["hooks", "prompt-submit", "--session-id", "s"], "--prompt"),
        (&["hooks", "session-end"], "--session-id"),
        (&["hooks", "event"], "stdin"),
    ] {
        let error = place.run(args).failed("usage");
        assert!(error.contains(missing), "{args:?}: {error}");
    }
}

#[test]
fn flags_and_stdin_must_agree() {
    let place = Place::new();
    let tool = envelope("pre_tool_use").to_string();
    let prompt = envelope("user_prompt_submit").to_string();
    let end = envelope("session_end").to_string();
    place.send(&["hooks", "pre-tool", "--session-id", "s-1", "--tool-name", "Read"], &tool).succeeded();
    place.send(&["hooks", "pre-tool", "--session-id", "", "--tool-name", ""], &tool).succeeded();
    place.send(&["hooks", "session-end", "--duration-ms", "0"], &end).succeeded();
    for (args, stdin, word) in [
        (["hooks", "pre-tool", "--session-id", "other"], &tool, "--session-id"),
        (["hooks", "pre-tool", "--tool-name", "Bash"], &tool, "--tool-name"),
        (["hooks", "prompt-submit", "--prompt", "bye"], &prompt, "--prompt"),
        (["hooks", "session-end", "--duration-ms", "7"], &end, "--duration-ms"),
    ] {
        let error = place.send(&args, stdin).failed("validation");
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn input_that_is_no_event_is_refused_by_name() {
    let place = Place::new();
    let deep = format!("{{\"hook_event_name\":\"X\",\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    let both = r#"{"hook_event_name":"Stop","hook_type":"session_end"}"#;
    let twice = r#"{"hook_event_name":"Stop","session_id":"a","session_id":"b"}"#;
    let nested_twice = r#"{"hook_event_name":"Stop","x":{"k":1,"k":2}}"#;
    let cases: [(&[u8], &str); 14] = [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"hello", "not valid JSON"),
        (b"[1,2]", "an array"),
        (b"\"text\"", "a string"),
        (b"null", "null"),
        (b"{\"hook_event_name\":\"Stop\"", "EOF"),
        (b"{\"hook_event_name\":\"X\",\"session_id\":\"s\"} trailing", "trailing characters"),
        (both.as_bytes(), "not a hook event: the object has both `hook_event_name` and `hook_type`"),
        (b"{}", "not a hook event: the object has neither `hook_event_name` nor `hook_type`"),
        (twice.as_bytes(), "ambiguous JSON: duplicate key `session_id`"),
        (nested_twice.as_bytes(), "duplicate key `k`"),
        (b"{\"hook_event_name\":\"St\xffop\"}", "not UTF-8"),
        (b"{\"hook_event_name\":\"St\0op\"}", "control character"),
    ];
    for (stdin, word) in cases.into_iter().chain([(deep.as_bytes(), "recursion limit")]) {
        let error = place.send(&["hooks", "event", "--stdin"], stdin).failed("parse");
        assert!(error.starts_with("Parse error: ") && error.contains(word), "{error}");
    }
}

#[test]
fn twenty_mebibytes_are_refused_and_sixteen_are_not() {
    let place = Place::new();
    let payload = |size: usize| {
        let mut call = native("PostToolUse");
        call["tool_response"]["stdout"] = json!("x".repeat(size));
        call.to_string()
    };
    let error = place.send(&["hooks", "post-tool"], payload(20 << 20)).failed("parse");
    assert!(error.contains("larger than"), "{error}");
    place.send(&["hooks", "event"], payload(15 << 20)).succeeded();
}

#[test]
fn a_byte_order_mark_is_accepted() {
    let place = Place::new();
    let mut bytes = b"\xEF\xBB\xBF".to_vec();
    bytes.extend(native("Stop").to_string().as_bytes());
    place.send(&["hooks", "event"], bytes).succeeded();
}

#[test]
fn each_required_field_of_the_envelope_is_missed_by_name() {
    let place = Place::new();
    for kind in ["session_start", "pre_tool_use", "post_tool_use", "user_prompt_submit", "session_end"] {
        let whole = envelope(kind);
        let optional = ["previous_session_id", "tool_use_id", "context"];
        let data = whole["payload"]["data"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let paths = ["/session_id", "/timestamp_ms", "/payload", "/payload/type", "/payload/data"]
            .into_iter()
            .map(str::to_owned)
            .chain(
                data.iter().filter(|k| !optional.contains(&k.as_str())).map(|k| format!("/payload/data/{k}")),
            );
        for path in paths {
            let (parent, key) = path.rsplit_once('/').unwrap();
            let mut missing = whole.clone();
            missing.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
            let error = place.send(&["hooks", "event"], missing.to_string()).failed("parse");
            assert!(error.contains(key), "{kind}{path}: {error}");
            if key == "tool_input" || key == "tool_response" {
                continue;
            }
            let mut wrong = whole.clone();
            *wrong.pointer_mut(&path).unwrap() = json!([[]]);
            let error = place.send(&["hooks", "event"], wrong.to_string()).failed("parse");
            assert!(error.contains(key) && error.contains("expected"), "{kind}{path}: {error}");
        }
    }
}

#[test]
fn senseless_envelopes_are_refused_by_name() {
    let place = Place::new();
    let change = |pointer: &str, value: Value| {
        let mut input = envelope("session_start");
        *input.pointer_mut(pointer).unwrap() = value;
        place.send(&["hooks", "session-start", "--stdin"], input.to_string())
    };
    assert!(change("/session_id", json!("")).failed("validation").contains("session_id cannot be empty"));
    for time in [0, -1] {
        assert!(change("/timestamp_ms", json!(time)).failed("validation").contains("timestamp_ms"));
    }
    let mut mixed = envelope("session_start");
    mixed["payload"] = envelope("session_end")["payload"].clone();
    let error = place.send(&["hooks", "session-start", "--stdin"], mixed.to_string()).failed("validation");
    assert!(error.contains("does not match payload type"), "{error}");
    let mut nobody = native("SessionStart");
    nobody["session_id"] = json!("");
    let error = place.send(&["hooks", "session-start"], nobody.to_string()).failed("validation");
    assert!(error.contains("session_id cannot be empty"), "{error}");
}

#[test]
fn the_reasons_of_the_client_are_all_taken() {
    let place = Place::new();
    for reason in ["exit", "clear", "logout", "prompt_input_exit", "other"] {
        let mut end = envelope("session_end");
        end["payload"]["data"]["reason"] = json!(reason);
        place.send(&["hooks", "session-end", "--stdin"], end.to_string()).succeeded();
    }
}

#[test]
fn an_error_cannot_drive_the_terminal() {
    let place = Place::new();
    let run =
        place.send(&["hooks", "pre-tool"], "{\"hook_event_name\":\"\\u001b[31mred\",\"session_id\":\"s\"}");
    assert!(!run.stderr.contains('\x1b') && !run.stdout.contains('\x1b'), "{run:?}");
    run.failed("validation");
}

#[test]
fn bad_usage_exits_1_with_json_for_hooks() {
    let place = Place::new();
    for args in [
        &["hooks", "event", "--nonsense"][..],
        &["hooks", "nonsense"],
        &["hooks", "pre-tool", "--fast-path=maybe"],
        &["hooks", "session-end", "--duration-ms", "soon"],
        &["hooks", "event", "--format", "xml"],
    ] {
        let run = place.run(args);
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(run.json()["error_code"], "usage");
        assert!(run.stderr.contains("--help"), "{run:?}");
    }
    assert_eq!(place.run(&["nonsense"]).code, 1);
    assert_eq!(place.run(&[]).code, 1);
}

#[test]
fn help_and_version_exit_0() {
    let place = Place::new();
    for args in [&["--help"][..], &["--version"], &["hooks", "--help"], &["hooks", "pre-tool", "--help"]] {
        let run = place.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        assert!(!run.stdout.is_empty());
    }
}

#[test]
fn text_is_for_people() {
    let place = Place::new();
    let ok = place.send(&["hooks", "event", "--format", "text"], native("Stop").to_string());
    assert!(ok.code == 0 && ok.stdout.starts_with("ok\n"), "{ok:?}");
    let bad = place.send(&["hooks", "event", "--format", "text"], "{}");
    assert!(bad.code == 1 && bad.stdout.starts_with("failed (parse): "), "{bad:?}");
}

#[test]
fn a_panic_is_an_answer_too() {
    let place = Place::new();
    let mut command = place.command(&["hooks", "event"]);
    command.env("CONTEXT_GRAPH_TEST_PANIC", "1");
    let run = send(command, native("PreToolUse").to_string().as_bytes());
    let error = run.failed("internal");
    assert!(error.contains("panic at"), "{error}");
    assert_eq!(
        run.json()["hookSpecificOutput"]["permissionDecision"],
        "ask",
        "a panic must not open the guard"
    );
}

#[test]
fn a_panic_does_not_take_back_what_was_refused() {
    let place = Place::new();
    let mut command = place.command(&["hooks", "event"]);
    command.env("CONTEXT_GRAPH_TEST_PANIC_LATE", "1");
    let mut call = native("PreToolUse");
    call["tool_name"] = json!("Bash");
    call["tool_input"] = json!({"command": "rm -rf /usr"});
    let run = send(command, call.to_string().as_bytes());
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
    assert!(run.code == 1 && run.stderr.contains("panic at"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_away_is_no_crash() {
    use std::process::Stdio;
    let place = Place::new();
    let mut command = place.command(&["hooks", "event"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(Stdio::from(writer));
    let run = send(command, native("Stop").to_string().as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[cfg(unix)]
#[test]
fn a_stdin_that_never_ends_is_answered_within_the_budget() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command(&["hooks", "pre-tool", "--stdin"]);
    let started = Instant::now();
    let output = command.stdin(Stdio::from(reader)).output().unwrap();
    drop(writer);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["success"], &answer["error_code"]), (&json!(false), &json!("timeout")));
    assert_eq!(
        answer["hookSpecificOutput"]["permissionDecision"], "ask",
        "a timeout must not open the guard"
    );
}

#[test]
fn timings_are_told_on_stderr_and_change_nothing_else() {
    let place = Place::new();
    for (hook, event, stages) in [
        ("pre-tool", "PreToolUse", &["start", "read", "decode", "policy", "commit", "write"][..]),
        ("post-tool", "PostToolUse", &["start", "read", "decode", "policy", "step, commit", "write"]),
        ("event", "Stop", &["start", "read", "decode", "policy", "step, commit", "write"]),
    ] {
        let run = place.send(&["hooks", hook, "--stdin", "--timings"], native(event).to_string());
        assert_eq!(run.succeeded()["success"], json!(true));
        let told: Vec<(&str, u64)> = run
            .stderr
            .lines()
            .map(|line| {
                let (stage, took) = line.trim_end_matches(" µs").rsplit_once(' ').unwrap();
                (stage.trim(), took.parse().unwrap())
            })
            .collect();
        let (total, parts) = told.split_last().unwrap();
        assert_eq!(parts.iter().map(|(stage, _)| *stage).collect::<Vec<_>>(), stages, "{}", run.stderr);
        // Each part is rounded down to microseconds, so their sum is at most the total.
        let sum: u64 = parts.iter().map(|(_, took)| took).sum();
        assert!(total.0 == "total" && sum <= total.1 && total.1 <= sum + 10, "{}", run.stderr);
        assert!(parts[0].1 > 0, "starting a process takes time: {}", run.stderr);
    }
}
