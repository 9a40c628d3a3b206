//! Signals: which of them run, and what policies see of their results.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use context_graph_policy::rego::signals::{self, Signal, SignalOutcome};
use serde_json::{Value, json};

fn signal(name: &str, command: &str, timeout_ms: u64) -> Signal {
    Signal { name: name.into(), command: command.into(), timeout_ms }
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
