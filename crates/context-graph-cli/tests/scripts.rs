//! The shell scripts of the contract, word for word, and what they pass if `jq` is missing.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::{Place, Run, send};
use serde_json::{Value, json};

const SESSION_START: &str = r#"
set -e
INPUT=$(cat)
SESSION_ID=$(echo "$INPUT" | jq -r '.session_id // empty')
PREVIOUS_SESSION=$(echo "$INPUT" | jq -r '.payload.data.previous_session_id // empty')
if [ -n "$PREVIOUS_SESSION" ]; then
    context-graph hooks session-start \
        --session-id "$SESSION_ID" \
        --previous-session-id "$PREVIOUS_SESSION" \
        --stdin <<< "$INPUT" \
        --format json
else
    context-graph hooks session-start \
        --session-id "$SESSION_ID" \
        --stdin <<< "$INPUT" \
        --format json
fi
"#;

const PRE_TOOL_USE: &str = r#"
set -e
INPUT=$(cat)
SESSION_ID=$(echo "$INPUT" | jq -r '.session_id // empty')
TOOL_NAME=$(echo "$INPUT" | jq -r '.payload.data.tool_name // empty')
context-graph hooks pre-tool \
    --session-id "$SESSION_ID" \
    --tool-name "$TOOL_NAME" \
    --fast-path \
    --format json
"#;

const POST_TOOL_USE: &str = r#"
set -e
INPUT=$(cat)
SESSION_ID=$(echo "$INPUT" | jq -r '.session_id // empty')
TOOL_NAME=$(echo "$INPUT" | jq -r '.payload.data.tool_name // empty')
SUCCESS=$(echo "$INPUT" | jq -r '.payload.data.error == null')
context-graph hooks post-tool \
    --session-id "$SESSION_ID" \
    --tool-name "$TOOL_NAME" \
    --success "$SUCCESS" \
    --stdin <<< "$INPUT" \
    --format json
"#;

const USER_PROMPT_SUBMIT: &str = r#"
set -e
INPUT=$(cat)
SESSION_ID=$(echo "$INPUT" | jq -r '.session_id // empty')
PROMPT=$(echo "$INPUT" | jq -r '.payload.data.prompt // empty')
context-graph hooks prompt-submit \
    --session-id "$SESSION_ID" \
    --prompt "$PROMPT" \
    --stdin <<< "$INPUT" \
    --format json
"#;

const SESSION_END: &str = r#"
set -e
INPUT=$(cat)
SESSION_ID=$(echo "$INPUT" | jq -r '.session_id // empty')
DURATION=$(echo "$INPUT" | jq -r '.payload.data.duration_ms // 0')
context-graph hooks session-end \
    --session-id "$SESSION_ID" \
    --duration-ms "$DURATION" \
    --generate-summary \
    --stdin <<< "$INPUT" \
    --format json
"#;

fn envelope(kind: &str, data: &Value) -> String {
    json!({"hook_type": kind, "session_id": "s", "timestamp_ms": 1_705_312_345_678_i64,
        "payload": {"type": kind, "data": data}})
    .to_string()
}

/// Runs a script if its tools exist; otherwise the hook with the arguments that the script would pass.
fn play(place: &Place, script: &str, flags: &[&str], reads_stdin: bool, input: &str) -> Value {
    let run: Run = if Path::new("/usr/bin/jq").exists() && Path::new("/bin/bash").exists() {
        let folder = Path::new(env!("CARGO_BIN_EXE_context-graph")).parent().unwrap();
        let mut command = std::process::Command::new("/bin/bash");
        command
            .args(["-c", script])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
            .env("HOME", place.home())
            .env("CLAUDE_PROJECT_DIR", place.project())
            .current_dir(place.project())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        send(command, input.as_bytes())
    } else {
        place.send(flags, if reads_stdin { input } else { "" })
    };
    run.succeeded()
}

fn post_tool(place: &Place, data: &Value) -> Value {
    let success = data["error"].is_null().to_string();
    let flags =
        ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Read", "--success", &success, "--stdin"];
    play(place, POST_TOOL_USE, &flags, true, &envelope("post_tool_use", data))
}

#[test]
fn the_five_scripts_carry_a_session_from_start_to_end() {
    let place = Place::new();
    let start = json!({"cwd": "/p", "source": "startup", "previous_session_id": null});
    let flags = ["hooks", "session-start", "--session-id", "s", "--stdin"];
    play(&place, SESSION_START, &flags, true, &envelope("session_start", &start));

    let prompt = json!({"prompt": "read the parser\nand tell", "context": null});
    let flags =
        ["hooks", "prompt-submit", "--session-id", "s", "--prompt", "read the parser\nand tell", "--stdin"];
    play(&place, USER_PROMPT_SUBMIT, &flags, true, &envelope("user_prompt_submit", &prompt));

    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/p/a.rs"}, "tool_use_id": null});
    let flags = ["hooks", "pre-tool", "--session-id", "s", "--tool-name", "Read", "--fast-path"];
    let answer = play(&place, PRE_TOOL_USE, &flags, false, &envelope("pre_tool_use", &call));
    assert_eq!((answer.get("ruling"), answer.get("hookSpecificOutput")), (None, None), "{answer}");
    assert!(answer["notices"].to_string().contains("input could not be judged"), "{answer}");

    let input = json!({"file_path": "/p/a.rs"});
    post_tool(&place, &json!({"tool_name": "Read", "tool_input": input, "tool_response": {"content": "x"}}));
    post_tool(
        &place,
        &json!({"tool_name": "Read", "tool_input": input, "tool_response": {}, "error": "no such file"}),
    );
    post_tool(&place, &json!({"tool_name": "Read", "tool_output": null, "error": "no such file"}));

    let end = json!({"duration_ms": 3_600_000, "status": "timeout", "reason": "other"});
    let flags = ["hooks", "session-end", "--session-id", "s", "--duration-ms", "3600000", "--stdin"];
    let answer = play(&place, SESSION_END, &flags, true, &envelope("session_end", &end));
    assert!(answer["session_summary"].as_str().unwrap().contains("1 succeeded, 2 failed"), "{answer}");

    let shown: Value = serde_json::from_str(&place.run(&["session", "show", "s", "--json"]).stdout).unwrap();
    assert_eq!((&shown["end_status"], &shown["duration_ms"]), (&json!("timeout"), &json!(3_600_000)));
}
