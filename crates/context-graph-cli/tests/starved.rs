//! A hook with too few resources still refuses what it must refuse.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::process::{Command, Stdio};

use common::{Place, Run, send};
use serde_json::{Value, json};

const CALL: &str = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Bash",
    "tool_input":{"command":"rm -rf /usr"},"cwd":"/","transcript_path":"/t.jsonl"}"#;

/// The hook in a shell that has limited itself.
fn limited(place: &Place, limits: &str, args: &[&str]) -> Run {
    let hook = place.command(args);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")])
        .arg(hook.get_program())
        .args(hook.get_args());
    shell.env_clear().envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(place.project());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    send(shell, CALL.as_bytes())
}

fn verdict(run: &Run) -> Value {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    answer["hookSpecificOutput"]["permissionDecision"].clone()
}

#[test]
fn files_may_not_grow() {
    let place = Place::new();
    let run = limited(&place, "ulimit -f 0", &["hooks", "pre-tool", "--stdin"]);
    assert_eq!((verdict(&run), run.code), (json!("deny"), 0), "{run:?}");
}

#[test]
fn no_file_may_be_opened() {
    let place = Place::new();
    let run = limited(&place, "ulimit -n 3", &["hooks", "pre-tool", "--stdin"]);
    assert_ne!(verdict(&run), Value::Null, "{run:?}");
}

/// The smallest stack with which the program must start, in KB. The kernel begins a stack at a random place up to
/// 8 KB below its top, and without optimisation our first functions need more than what is left of 16 KB.
const SMALLEST_STACK: u32 = 24;

#[test]
fn the_stack_is_too_small() {
    let place = Place::new();
    for kilobytes in [SMALLEST_STACK, 32, 48, 64, 96, 128, 256] {
        let run = limited(&place, &format!("ulimit -s {kilobytes}"), &["hooks", "pre-tool", "--stdin"]);
        // The stack is too small for the kernel to start a program at all. Then the client knows that the hook did
        // not run.
        if run.stdout.is_empty() && run.code != 0 && run.stderr.contains("Argument list too long") {
            continue;
        }
        assert!(["ask", "deny"].map(Value::from).contains(&verdict(&run)), "{kilobytes} KB: {run:?}");
    }
}

#[test]
fn there_is_too_little_memory() {
    let place = Place::new();
    let mut answered = 0;
    for megabytes in [12, 16, 20, 24, 32, 48, 64, 128] {
        let run =
            limited(&place, &format!("ulimit -v {}", megabytes * 1024), &["hooks", "pre-tool", "--stdin"]);
        // Too little memory to load the program: the kernel kills it before its first instruction.
        if run.stdout.is_empty() && run.code < 0 {
            continue;
        }
        assert!(["ask", "deny"].map(Value::from).contains(&verdict(&run)), "{megabytes} MB: {run:?}");
        answered += 1;
    }
    assert!(answered > 0);
}

#[test]
fn other_events_say_that_they_failed() {
    let place = Place::new();
    let run = limited(&place, &format!("ulimit -s {SMALLEST_STACK}"), &["hooks", "event", "--stdin"]);
    assert!(serde_json::from_str::<Value>(&run.stdout).is_ok(), "{run:?}");
}
