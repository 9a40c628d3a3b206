//! Where the time of Rego policies goes, phase by phase, in a process that has done nothing before.
//!
//!     cargo run --release -p context-graph-policy --example rego_cost [FOLDER]
//!
//! A hook is a new process each time, so only the first round counts. The last round shows how long a warm process
//! takes.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a measuring tool")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use context_graph_policy::rego::{Additions, Input, Limits, PolicySet, read_folder};
use context_graph_policy::{Context, ListedFileSystem};
use serde_json::json;

fn main() {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rego_policies"), PathBuf::from);
    for round in 0..5 {
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_micros();
        let (files, errors) = read_folder(&folder, |path, _| std::fs::read(path));
        let read = lap();
        let set = PolicySet::new(files, errors);
        let headers = lap();
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/proj", "tool_name": "Bash",
            "tool_input": {"command": "cargo test --workspace"}});
        let fs = ListedFileSystem::default();
        let ctx = Context { home: "/home/dev", project: "/proj", cwd: "/proj", fs: &fs };
        let input = Input::new(event.as_object().unwrap(), Additions::default(), &ctx);
        let enriched = lap();
        let outcome =
            set.evaluate("PreToolUse", Some("Bash"), &input, Limits { time: Duration::from_secs(20) });
        let ran = lap();
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        println!(
            "round {round}: read {read} µs, headers {headers} µs, input {enriched} µs, {} packages {ran} µs",
            outcome.timings.len()
        );
    }
}
