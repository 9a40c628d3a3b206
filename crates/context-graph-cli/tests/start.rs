//! The program starts in any environment. We must test this, because we skip Rust's own start-up code.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::os::unix::process::CommandExt as _;

use common::{Place, send};

/// A call in a project with a policy: read, decided on another thread, recorded and answered.
fn a_call_is_decided(place: &Place, around: impl Fn(&mut std::process::Command)) {
    let mut command = place.command(&["hooks", "pre-tool", "--stdin"]);
    around(&mut command);
    let event = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Bash",
        "tool_input":{"command":"echo never"},"cwd":"/","transcript_path":"/t.jsonl"}"#;
    let run = send(command, event.as_bytes());
    assert!(run.code == 0 && run.stdout.contains("not ever"), "{run:?}");
}

fn place_with_policy() -> Place {
    let place = Place::new();
    let policy = "package p\nimport rego.v1\ndeny contains \"not ever\" if \
        contains(input.tool_input.command, \"never\")\n";
    place.rego("p.rego", policy);
    place
}

#[test]
fn with_few_variables_and_with_many() {
    let place = place_with_policy();
    a_call_is_decided(&place, |_| {});
    a_call_is_decided(&place, |command| {
        for number in 0..2_000 {
            command.env(format!("VARIABLE_{number}"), "value ".repeat(number % 50));
        }
    });
}

#[test]
fn with_what_the_c_library_reads_from_its_surroundings() {
    let place = place_with_policy();
    for (name, value) in [
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1"),
        ("GLIBC_TUNABLES", ""),
        ("GLIBC_TUNABLE", "short"),
        ("MALLOC_ARENA_MAX", "1"),
        ("LD_LIBRARY_PATH", "/nowhere"),
        ("LD_PRELOAD", "/nowhere/x.so"),
    ] {
        a_call_is_decided(&place, |command| {
            command.env(name, value);
        });
    }
}

#[test]
fn under_any_name() {
    let place = place_with_policy();
    for name in ["", "context-graph", "a/b c", "\u{1b}[31m"] {
        a_call_is_decided(&place, |command| {
            command.arg0(name);
        });
    }
}
