//! The two hooks that run at every tool call, measured in process: without the cost of starting a process.
//!
//! `bench/cost` measures whole processes.
#![expect(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use context_graph_events::Event;
use context_graph_storage::sessions::{Arrival, Durability, Sessions};
use context_graph_storage::{StateFolder, UserFolder};
use criterion::{Criterion, criterion_group, criterion_main};

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(format!(
        "{}/../context-graph-events/tests/payloads/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap()
}

fn sessions(folder: &std::path::Path) -> Sessions {
    let sessions = Sessions::new(
        StateFolder::open_or_create(folder, None, &UserFolder::new(folder.join("private"))).unwrap(),
    );
    step(&sessions, &recorded("SessionStart"));
    sessions
}

fn step(sessions: &Sessions, bytes: &[u8]) {
    let event = Event::from_slice(bytes).unwrap();
    let durability = Durability::of(&event);
    let arrival = Arrival {
        event,
        at_ms: 1_700_000_000_000,
        previous_session_id: None,
        took_us: 0,
        ruling: None,
        crisis_threshold: 0.5,
        told_below: 0.5,
        title: None,
    };
    black_box(sessions.step("bench", arrival, durability).unwrap());
}

fn pre_tool_fast_path(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let sessions = sessions(folder.path());
    let bytes = recorded("PreToolUse");
    criterion.bench_function("pre_tool_fast_path", |bencher| {
        bencher.iter(|| {
            let event = Event::from_slice(&bytes).unwrap();
            black_box(sessions.append("bench", event, 1_700_000_000_000, None, || 0).unwrap())
        });
    });
}

fn post_tool_update(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let sessions = sessions(folder.path());
    let bytes = recorded("PostToolUse");
    criterion.bench_function("post_tool_update", |bencher| bencher.iter(|| step(&sessions, &bytes)));
}

criterion_group!(benches, pre_tool_fast_path, post_tool_update);
criterion_main!(benches);
