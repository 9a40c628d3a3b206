//! Measures the cost of one step of the continuity engine, and the size of its state.
//!
//! ```text
//! cargo run --release --example continuity_cost
//! ```
//!
//! Uses ten thousand generated events of 2 KB whose words hardly repeat, the worst case for the state, and then
//! results of 6 MB.
#![expect(clippy::unwrap_used, reason = "what is made up here is well formed")]
#![expect(clippy::print_stdout, reason = "a report is what this program is for")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use context_graph_core::continuity::Continuity;
use context_graph_events::Event;
use serde_json::{Value, json};

const EVENTS: usize = 10_000;

/// A generated word. The generator is deterministic.
fn word(state: &mut u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "cor", "di", "fen", "gul", "hap", "jin", "kes", "lum", "mor", "nex", "pol", "quil", "rad",
        "sto", "tev",
    ];
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = *state >> 33;
    (0..4).map(|at| SYLLABLES[(bits >> (4 * at)) as usize % 16]).collect()
}

fn text(state: &mut u64, bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        let (a, b) = (word(state), word(state));
        let _ = match text.len() % 4 {
            0 => write!(text, "{a}_{b} "),
            1 => write!(text, "src/{a}/{b}.rs "),
            2 => write!(text, "{a} {b}{} ", a.len()),
            _ => write!(text, "{a} "),
        };
    }
    text
}

fn event(mut payload: Value) -> Event {
    let common = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/p"});
    if let (Some(payload), Some(common)) = (payload.as_object_mut(), common.as_object()) {
        payload.extend(common.clone());
    }
    Event::from_slice(payload.to_string().as_bytes()).unwrap()
}

fn result(state: &mut u64, input: usize, output: usize) -> Event {
    event(json!({
        "hook_event_name": "PostToolUse",
        "tool_name": word(state),
        "tool_use_id": "t",
        "tool_input": {"command": text(state, input)},
        "tool_response": {"stdout": text(state, output), "stderr": ""},
    }))
}

fn main() {
    let mut state = 1;
    let mut engine = Continuity::default();
    let mut steps: Vec<Duration> = Vec::new();
    let (mut largest, mut clock) = (0, 0);
    for at in 0..EVENTS {
        clock += 5_000 + i64::try_from(at).unwrap();
        if at % 50 == 0 {
            let prompt = text(&mut state, 2_000);
            engine.observe(&event(json!({"hook_event_name": "UserPromptSubmit", "prompt": prompt})), clock);
        }
        let event = result(&mut state, 700, 1_300);
        let start = Instant::now();
        engine.observe(&event, clock);
        steps.push(start.elapsed());
        if at % 10 == 9 {
            largest = largest.max(postcard::to_allocvec(&engine).unwrap().len());
        }
    }
    steps.sort_unstable();
    println!("state after {EVENTS} events: {} bytes encoded", postcard::to_allocvec(&engine).unwrap().len());
    println!("largest on the way: {largest} bytes");
    println!("a step, 2 KB: median {:?}, 99 in 100 below {:?}", steps[EVENTS / 2], steps[EVENTS * 99 / 100]);

    let call = |input: Value, response: Value| {
        event(json!({
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": input, "tool_response": response,
        }))
    };
    // One case at a time, so that the allocator's work for the previous case is not measured.
    for name in ["one string of 6 MB", "6 MB in the call", "300,000 small objects"] {
        let event = match name {
            "one string of 6 MB" => {
                call(json!({"command": "x"}), json!({"stdout": text(&mut state, 6_000_000)}))
            }
            "6 MB in the call" => {
                call(json!({"content": text(&mut state, 6_000_000)}), json!({"stdout": ""}))
            }
            _ => call(
                json!({"command": "x"}),
                (0..300_000).map(|at| json!({"a": at, "b": word(&mut state)})).collect(),
            ),
        };
        let mut steps: Vec<Duration> = Vec::new();
        for _ in 0..21 {
            let start = Instant::now();
            engine.observe(&event, clock);
            steps.push(start.elapsed());
        }
        steps.sort_unstable();
        println!("a step, {name}: median {:?}, slowest of 21 {:?}", steps[10], steps[20]);
    }
}
