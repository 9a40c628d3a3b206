//! What a decision costs: the first in a fresh process, and in steady state.

use std::time::Instant;

use context_graph_events::Event;
use context_graph_policy::{Context, Guards, PolicyConfig, RealFileSystem};
use serde_json::{Value, json};

fn event(tool: &str, input: Value) -> Option<Event> {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/tmp",
        "tool_name": tool, "tool_input": input, "tool_use_id": "1",
    });
    Event::from_object(payload.as_object().cloned()?).ok()
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn main() {
    let fs = RealFileSystem::new();
    let ctx = Context { home: "/home/dev", project: "/tmp", cwd: "/tmp", fs: &fs };
    let guards = Guards::new(PolicyConfig::default());
    let calls = [
        ("Bash", json!({"command": "cargo test"})),
        ("Read", json!({"file_path": "/tmp/src/main.rs"})),
        ("Edit", json!({"file_path": "/tmp/src/main.rs", "old_string": "a", "new_string": "b"})),
        ("Bash", json!({"command": "git status"})),
        ("Bash", json!({"command": "ls -la src"})),
        ("Bash", json!({"command": "cd crates && cargo build --release 2>&1 | tail -20"})),
        (
            "Bash",
            json!({"command": "git add -A && git commit -m \"$(cat <<'EOF'\nmessage\n\nbody\nEOF\n)\""}),
        ),
        ("Bash", json!({"command": "for f in a b c; do grep -n foo \"$f\" | head -3; done"})),
        (
            "Bash",
            json!({"command": "python3 - <<'PY'\nimport json\nd = json.load(open('x.json'))\nprint(d['a'])\nPY"}),
        ),
    ];
    println!("{:>10} {:>10}  call", "first µs", "steady µs");
    for (tool, input) in calls {
        let Some(event) = event(tool, input.clone()) else { continue };
        let start = Instant::now();
        let decision = guards.decide(&event, &ctx);
        let first = start.elapsed();
        let rounds = 2_000;
        let start = Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(guards.decide(std::hint::black_box(&event), &ctx));
        }
        let steady = start.elapsed() / rounds;
        let shown = input.to_string();
        println!(
            "{:>10.1} {:>10.1}  {tool} {} {:?}",
            first.as_secs_f64() * 1e6,
            steady.as_secs_f64() * 1e6,
            shown.chars().take(60).collect::<String>(),
            decision.verdict()
        );
    }
}
