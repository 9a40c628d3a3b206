//! Signals: what commands answer, and that none outlives its time.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_policy::rego::runner::{MAX_OUTPUT, run_in};
use context_graph_policy::rego::signals::{self, Signal, SignalOutcome};
use serde_json::{Value, json};

fn signal(name: &str, command: &str, timeout_ms: u64) -> Signal {
    Signal { name: name.into(), command: command.into(), timeout_ms }
}

fn value(command: &str) -> Value {
    let signal = signal("s", command, 10_000);
    run_in(Path::new("/"), &signal, br#"{"tool_name":"Bash"}"#).into_value(&signal)
}

#[test]
fn answers_are_json_or_text_and_failures_say_so() {
    assert_eq!(value("echo main"), "main");
    assert_eq!(value("echo '{\"ok\": true}'"), json!({"ok": true}));
    assert_eq!(value("cat"), json!({"tool_name": "Bash"}));
    assert_eq!(value("pwd"), "/");
    assert_eq!(
        value("echo out; echo err >&2; exit 3"),
        json!({"success": false, "exit_code": 3, "output": "out", "error": "err"})
    );
}

#[test]
fn a_large_event_and_a_large_answer_do_not_stall() {
    let signal = signal("s", "head -c 3000000 /dev/zero | tr '\\0' x; cat >/dev/null", 20_000);
    let outcome = run_in(Path::new("/"), &signal, &vec![b' '; 2_000_000]);
    assert!(
        matches!(outcome, SignalOutcome::Ended { code: Some(0), stdout, .. } if stdout.len() == MAX_OUTPUT)
    );
}

#[test]
fn the_whole_group_is_killed_when_the_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let signal = signal("slow", "echo early; (sleep 1; touch late) & sleep 30", 200);
    let started = Instant::now();
    let outcome = run_in(folder.path(), &signal, b"{}");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(outcome, SignalOutcome::TimedOut { stdout: "early\n".into() });
    let seen = outcome.into_value(&signal);
    assert_eq!((&seen["success"], &seen["timed_out"]), (&json!(false), &json!(true)));
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!folder.path().join("late").exists(), "a descendant lived on");
}

#[test]
fn a_descendant_that_holds_the_output_does_not_hold_the_hook() {
    let started = Instant::now();
    let outcome = run_in(Path::new("/"), &signal("s", "sleep 30 & echo done", 200), b"{}");
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(outcome, SignalOutcome::TimedOut { stdout: "done\n".into() });
}

#[test]
fn only_wanted_signals_run_and_side_by_side() {
    let configured = [signal("a", "x", 1), signal("b", "y", 1), signal("c", "z", 1)];
    let started = Instant::now();
    let result = signals::run(&configured, ["a", "c", "ghost"], b"{}", |signal, event| {
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(event, b"{}");
        SignalOutcome::Ended { code: Some(0), stdout: signal.command.clone(), stderr: String::new() }
    });
    assert!(started.elapsed() < Duration::from_millis(390));
    assert_eq!(Value::Object(result.values), json!({"a": "x", "c": "z"}));
    assert_eq!(result.missing, ["ghost"]);
}

#[test]
fn a_signal_is_configured_with_little() {
    let read: Signal = serde_json::from_value(json!({"name": "a", "command": "b"})).unwrap();
    assert_eq!(read.timeout_ms, 5_000);
    assert!(serde_json::from_value::<Signal>(json!({"name": "a", "command": "b", "timeout": 1})).is_err());
}
