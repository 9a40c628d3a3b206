//! Broken and runaway policies: an error that names file and line, in time, and the others still decide.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use context_graph_policy::rego::{
    Additions, Evaluation, Input, Limits, PolicyFile, PolicySet, RegoError, RegoErrorKind,
};
use context_graph_policy::{Context, ListedFileSystem, Verdict};
use serde_json::json;

fn run(files: &[(&str, &str)], limits: Limits) -> (Evaluation, Duration) {
    let file = |(path, text): &(&str, &str)| PolicyFile { path: (*path).into(), text: (*text).into() };
    let set = PolicySet::new(files.iter().map(file).collect(), Vec::new());
    let fs = ListedFileSystem::default();
    let ctx = Context { home: "/h", project: "/p", cwd: "/p", fs: &fs };
    let event =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let input = Input::new(event.as_object().unwrap(), Additions::default(), &ctx);
    let started = Instant::now();
    let outcome = set.evaluate("PreToolUse", Some("Bash"), &input, limits);
    (outcome, started.elapsed())
}

const LONG: Limits = Limits { time: Duration::from_secs(20) };
const GOOD: (&str, &str) = ("a/good.rego", "package good\ndeny contains \"no\"");

fn one_error(outcome: &Evaluation) -> &RegoError {
    assert_eq!(outcome.errors.len(), 1, "{:?}", outcome.errors);
    &outcome.errors[0]
}

#[test]
fn a_broken_file_is_named_with_its_line_and_the_others_decide() {
    for (text, line, part) in [
        ("package bad\n\ndeny contains x if {\n  x := \n}", 4, "}"),
        ("package bad\ndeny contains x if {\n  x := y\n}", 3, "y"),
        ("package bad\nimport data.none.at_all\n\ndeny contains 1 if at_all.f(1)", 4, "at_all.f"),
        ("package bad\nq := 1 if true\nq := 2 if true\ndeny contains q", 3, "conflicts"),
        ("package bad\nf(x) := g(x)\ng(x) := f(x)\ndeny contains 1 if f(1)", 2, "recursion"),
        ("package bad\na := b\nb := a\ndeny contains a", 0, ""),
    ] {
        let (outcome, _) = run(&[GOOD, ("b/bad.rego", text)], Limits { time: Duration::from_secs(20) });
        let error = one_error(&outcome);
        assert_eq!(error.file, "b/bad.rego", "{text}");
        if line > 0 {
            assert_eq!(error.line, Some(line), "{error}");
        }
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(outcome.decision.verdict(), &Verdict::Deny, "{text}");
    }
}

#[test]
fn a_broken_helper_is_the_one_that_is_named() {
    let files = [
        ("h.rego", "package h\nok if {"),
        ("p.rego", "package p\nimport data.h\ndeny contains 1 if h.ok"),
        GOOD,
    ];
    let (outcome, _) = run(&files, LONG);
    assert_eq!(one_error(&outcome).file, "h.rego");
    assert_eq!(outcome.decision.verdict(), &Verdict::Deny);
}

#[test]
fn a_broken_header_is_an_error_of_every_event() {
    for (header, line) in [
        ("# METADATA\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"\npackage p", 4),
        ("# METADATA\n# custom:\n#   routing:\n#     required_event: [Stop]\npackage p", 4),
        ("# METADATA\n# custom:\n#   routing:\n#     required_events:\n#       Stop\npackage p", 5),
        ("# METADATA\n# custom:\n#   routing: Stop\npackage p", 3),
        ("\nimport rego.v1\npackage p", 2),
        ("# nothing", 1),
    ] {
        let (outcome, _) = run(&[("p.rego", header), GOOD], LONG);
        let error = one_error(&outcome);
        assert_eq!((error.file.as_str(), error.line), ("p.rego", Some(line)), "{error}");
        assert!(matches!(error.kind, RegoErrorKind::Header(_)));
        assert_eq!(outcome.decision.verdict(), &Verdict::Deny);
    }
}

#[test]
fn headers_are_read_in_all_their_forms() {
    for header in [
        "# custom:\n#   routing:\n#     required_events: [\"PreToolUse\", 'Stop']",
        "# title: x\n# description: |\n#   custom:\n#     routing: 7\n# custom:\n#   id: A\n#   routing:\n#     required_events:\n#     - Stop\n#     - \"PreToolUse\"  # both",
        "# custom: {severity: HIGH, routing: {required_events: [PreToolUse], required_tools: [Bash]}}",
        "#custom:\n#  routing: {required_events: [\n#    PreToolUse,\n#  ]}",
        "# custom:\n#   routing:\n#     required_events: PreToolUse\n#     required_tools: [\"Ba*\"]",
        "# custom:\n#   routing:\n#     required_events: []\n#     required_tools:\n#       - Bash",
    ] {
        let text = format!("# METADATA\n# scope: package\n{header}\npackage p\ndeny contains \"no\"");
        let (outcome, _) = run(&[("p.rego", &text)], LONG);
        assert_eq!(outcome.errors, [], "{header}");
        assert_eq!(outcome.decision.verdict(), &Verdict::Deny, "{header}");
        let (outcome, _) = run(&[("p.rego", &text.replace("PreToolUse", "Stop").replace("Ba", "Re"))], LONG);
        assert_eq!(outcome.decision.verdict(), &Verdict::None, "{header}");
    }
}

#[test]
fn a_runaway_policy_is_stopped_where_it_runs() {
    let text = "package slow\n\ndeny contains x if {\n  r := numbers.range(1, 5000)\n  x := count([1 | some a in r; some b in r; a * b == 7])\n}";
    let limits = Limits { time: Duration::from_millis(300) };
    let (outcome, took) =
        run(&[GOOD, ("slow.rego", text), ("z.rego", "package zz\ndeny contains \"z\"")], limits);
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(outcome.errors.iter().any(|error| error.file == "slow.rego"
        && error.line == Some(3)
        && error.kind == RegoErrorKind::TimeLimit(300)));
    assert_eq!(outcome.decision.verdict(), &Verdict::Deny);
}

#[test]
fn the_interpreter_is_stopped_too() {
    let text = "package slow\ndeny contains x if {\n  print(1)\n  r := numbers.range(1, 3000)\n  x := count([1 | some a in r; some b in r; some c in r; a * b * c == 7])\n}";
    let limits = Limits { time: Duration::from_millis(400) };
    let (outcome, took) = run(&[("slow.rego", text)], limits);
    assert_eq!(one_error(&outcome).file, "slow.rego");
    assert!(matches!(one_error(&outcome).kind, RegoErrorKind::TimeLimit(_)), "{:?}", outcome.errors);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_parse_that_explodes_is_left_behind() {
    let text = format!("package p\nx := {}1{}\ndeny contains x", "[".repeat(31), "]".repeat(31));
    let limits = Limits { time: Duration::from_millis(200) };
    let (outcome, took) = run(&[("p.rego", &text), ("q.rego", "package q\ndeny contains \"q\"")], limits);
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(!outcome.errors.is_empty());
    assert_eq!(outcome.errors[0].file, "p.rego");
}
