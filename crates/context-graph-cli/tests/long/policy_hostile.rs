//! Policies that would crash the process or never end: the call is asked about, in time.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::common::{Place, Run, each};
use serde_json::{Value, json};

fn with_policy(text: &str) -> Place {
    let place = Place::new();
    place.rego("hostile.rego", &format!("package hostile\nimport rego.v1\n{text}"));
    place
}

fn event(place: &Place, hook: &str, name: &str, more: &Value) -> (Run, Duration) {
    let mut payload =
        json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let started = Instant::now();
    let run = place.send(&["hooks", hook], payload.to_string());
    (run, started.elapsed())
}

/// A chain of rules, each depending on the next.
fn chain(length: usize) -> String {
    let mut text = String::from("deny contains \"no\" if r0 == 1\n");
    for at in 0..length {
        writeln!(text, "r{at} := r{}", at + 1).unwrap();
    }
    writeln!(text, "r{length} := 1").unwrap();
    text
}

fn hostile() -> Vec<(&'static str, String)> {
    let rule = |condition: &str| format!("deny contains \"no\" if {condition}");
    vec![
        ("a range that takes for ever", rule("count(numbers.range(1, 1000000000)) == 0")),
        ("a range beyond memory", rule("count(numbers.range(1, 1000000000000)) == 0")),
        ("a range beyond numbers", rule("count(numbers.range(1, 1000000000000000000)) == 0")),
        ("a shift beyond memory that is refused", rule("bits.lsh(1, 100000000000000) == 0")),
        ("a format beyond memory", rule("count(sprintf(\"%100000000000d\", [1])) == 0")),
        (
            "three loops in each other",
            rule("{ r := numbers.range(1, 3000); some a in r; some b in r; some c in r; a * b * c == 7.5 }"),
        ),
        ("a chain of rules", chain(8000)),
        ("a longer chain of rules", chain(14_000)),
        ("brackets in brackets", rule(&format!("count({}1{}) == 0", "(".repeat(60_000), ")".repeat(60_000)))),
        ("lists in lists", rule(&format!("count({}1{}) == 0", "[".repeat(31), "]".repeat(31)))),
        ("nots in nots", rule(&format!("{} 1 == 2", "not ".repeat(30_000)))),
        (
            "a text that doubles",
            rule(
                "{ a := \"xxxxxxxxxxxxxxxx\"; b := concat(a, [a | some _ in numbers.range(1, 4000)]); c := concat(b, [b | some _ in numbers.range(1, 4000)]); count(c) == 0 }",
            ),
        ),
    ]
}

#[test]
fn a_hostile_policy_never_lets_a_call_pass() {
    for (what, text) in hostile() {
        let place = with_policy(&text);
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
        for hook in ["event", "pre-tool"] {
            let (run, took) = event(&place, hook, "PreToolUse", &call);
            let verdict = run.json()["hookSpecificOutput"]["permissionDecision"].clone();
            // If the engine refuses to compute something, it is undefined, as in OPA, and the rule does not
            // apply.
            let is_refused = what.ends_with("that is refused");
            assert!(is_refused || verdict == "ask" || verdict == "deny", "{what}: {run:?}");
            assert!(run.code == 0 || run.code == 1, "{what}: {run:?}");
            assert!(took < Duration::from_secs(10), "{what}: {took:?}");
        }
    }
}

#[test]
fn other_events_are_answered_too() {
    each(&hostile(), |(what, text)| {
        let place = with_policy(text);
        let (run, took) = event(&place, "event", "UserPromptSubmit", &json!({"prompt": "hello"}));
        assert!(run.code == 0 || run.code == 1, "{what}: {run:?}");
        assert!(run.json()["success"].is_boolean(), "{what}: {run:?}");
        assert!(took < Duration::from_secs(20), "{what}: {took:?}");
    });
}

#[test]
fn the_guards_are_still_there_and_the_policy_is_named() {
    for most in ["1000000000", "1000000000000", "1000000000000000000"] {
        let place = with_policy(&format!("deny contains \"no\" if count(numbers.range(1, {most})) == 0"));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t"});
        let (run, _) = event(&place, "event", "PreToolUse", &call);
        assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
        let check = place.run(&["policy", "check"]);
        assert!(check.code == 1 && check.stdout.contains("hostile.rego"), "{check:?}");
    }
}
