//! The memory of a long command: every call runs its policies on a new thread, which must reuse the memory of
//! the last one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::fmt::Write as _;

use common::Place;

/// The peak memory of any child process so far, in kilobytes.
fn most_held() -> i64 {
    #[expect(unsafe_code, reason = "only libc tells what a child has used")]
    // SAFETY: a zeroed `rusage` is valid, and it outlives the call that fills it in.
    unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut used);
        used.ru_maxrss
    }
}

/// Runs a policy for this many calls.
fn run_policies(place: &Place, calls: usize) -> i64 {
    let mut cases = String::new();
    for number in 0..calls {
        let words = "word ".repeat(100);
        writeln!(cases, r#"{{"command": "echo {number} {words}", "expect": "none"}}"#).unwrap();
    }
    std::fs::write(place.project().join("cases.jsonl"), cases).unwrap();
    // Not with `run`, which would load the schema into this process. A child's peak includes the memory of its
    // parent before `exec`.
    let output = place.command(&["policy", "test", "cases.jsonl", "--json"]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success() && answer["passed"] == calls, "{answer}");
    most_held()
}

#[test]
fn policies_of_many_calls_take_the_memory_of_few() {
    let place = Place::new();
    let policy =
        "package p\nimport rego.v1\ndeny contains \"no\" if contains(input.tool_input.command, \"never\")\n";
    place.rego("p.rego", policy);
    let few = run_policies(&place, 100);
    let many = run_policies(&place, 1_500);
    println!("{few} KB for 100 calls, {many} KB for 1,500");
    assert!(many < few + (16 << 10), "{few} KB for 100 calls, {many} KB for 1,500");
}
