//! The real client, our binary on its hooks, a scripted model: does it work, and does the client agree?
//!
//! Where the client is not installed each test is counted as ignored; `tests/e2e/install-client` installs it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, clippy::disallowed_methods, clippy::print_stderr, reason = "a program of its own")]

mod client;
mod continuity;
mod guard;
mod scripted_model;

use client::Lab;
use libtest_mimic::{Arguments, Failed, Trial};
use scripted_model::{Script, Turn};
use serde_json::json;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn main() {
    let arguments = Arguments::from_args();
    let missing = client::find().err();
    if let Some(reason) = &missing {
        eprintln!("end-to-end tests are skipped: {reason}");
    }
    let tests: &[(&str, fn())] = &[
        ("an_ordinary_session_runs_through", an_ordinary_session_runs_through),
        ("parallel_calls_are_each_answered", parallel_calls_are_each_answered),
        ("failing_calls_are_answered", failing_calls_are_answered),
        ("a_subagent_is_answered", a_subagent_is_answered),
        ("compaction_runs_and_gets_no_json", compaction_runs_and_gets_no_json),
        ("a_permission_request_without_opinion_falls_through", a_permission_request_falls_through),
        ("a_session_tells_its_story", a_session_tells_its_story),
        ("what_init_writes_works", what_init_writes_works),
        ("a_healthy_session_carries_nothing", continuity::a_healthy_session_carries_nothing),
        ("a_drifted_session_gets_a_hint", continuity::a_drifted_session_gets_a_hint_with_the_next_prompt),
        ("after_compaction_the_digest_comes_back", continuity::after_compaction_the_digest_comes_back),
        ("the_next_session_gets_the_digest", continuity::the_next_session_gets_the_digest_of_the_one_before),
        ("a_loop_is_noticed_and_told_once", continuity::a_loop_is_noticed_and_told_once),
        ("a_destructive_call_is_denied_and_the_model_told_why", guard::a_destructive_call_is_denied),
        ("an_ordinary_call_is_left_alone", guard::an_ordinary_call_is_left_alone),
        ("a_call_that_needs_asking_does_not_run_in_print_mode", guard::a_call_that_needs_asking_does_not_run),
        ("a_broken_policy_does_not_open_the_guard", guard::a_broken_policy_does_not_open_the_guard),
        ("a_panic_does_not_open_the_guard", guard::a_panic_does_not_open_the_guard),
        ("a_hook_that_hangs_does_not_open_the_guard", guard::a_hook_that_hangs_does_not_open_the_guard),
        ("what_tools_say_never_gets_through_raw", continuity::what_tools_say_never_gets_through_raw),
    ];
    let trials = tests
        .iter()
        .copied()
        .map(|(name, test)| {
            Trial::test(name, move || {
                std::panic::catch_unwind(test).map_err(|_| Failed::from("see the panic above"))
            })
            .with_ignored_flag(missing.is_some())
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn an_ordinary_session_runs_through() {
    let lab = Lab::new([]);
    let input = lab.write("in.txt", "alpha\n");
    lab.write("CLAUDE.md", "Project notes.\n");
    let new = lab.project().join("new.txt");
    let lab = lab.play([
        Turn::tool("Bash", json!({"command": "echo hi", "description": "Say hi"})),
        Turn::tools([
            ("Write", json!({"file_path": new, "content": "one\ntwo\n"})),
            ("Read", json!({"file_path": input})),
        ]),
        Turn::tool("Edit", json!({"file_path": input, "old_string": "alpha", "new_string": "beta"})),
        Turn::text("All done."),
    ]);
    let run = lab.prompt(
        "please do the basic things",
        &["--permission-mode", "acceptEdits", "--allowedTools", "Bash(echo *)"],
    );
    run.assert_clean();
    for (event, times) in [
        ("SessionStart", 1),
        ("UserPromptSubmit", 1),
        ("PreToolUse", 4),
        ("PostToolUse", 4),
        ("PostToolBatch", 3),
        ("Stop", 1),
    ] {
        assert_eq!(run.fired(event), times, "{event}");
    }
    assert_eq!(std::fs::read_to_string(input).unwrap(), "beta\n");
}

fn parallel_calls_are_each_answered() {
    let calls: Vec<_> =
        (0..8).map(|i| ("Bash", json!({"command": format!("echo {i}"), "description": "d"}))).collect();
    let lab = Lab::new([Turn::tools(calls), Turn::text("done")]);
    let run = lab.prompt("go", &["--allowedTools", "Bash(echo *)"]);
    run.assert_clean();
    assert_eq!((run.fired("PreToolUse"), run.fired("PostToolUse"), run.fired("PostToolBatch")), (8, 8, 1));
}

fn failing_calls_are_answered() {
    let lab = Lab::new([
        Turn::tool("Bash", json!({"command": "echo out; exit 3", "description": "d"})),
        Turn::tool("Read", json!({"file_path": "/nowhere/at/all"})),
        Turn::text("done"),
    ]);
    let run = lab.prompt("go", &["--allowedTools", "Bash(*)", "Read"]);
    run.assert_clean();
    assert_eq!(run.fired("PostToolUseFailure"), 2);
}

fn a_subagent_is_answered() {
    let lab = Lab::with_script(Script {
        turns: vec![
            Turn::tool(
                "Agent",
                json!({"description": "helper", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
                    "run_in_background": false}),
            ),
            Turn::text("done"),
        ],
        rules: vec![("SUBPROMPT".to_owned(), vec![Turn::text("sub done")])],
    });
    let run = lab.prompt("go", &["--permission-mode", "acceptEdits"]);
    run.assert_clean();
    assert_eq!((run.fired("SubagentStart"), run.fired("SubagentStop")), (1, 1));
}

fn compaction_runs_and_gets_no_json() {
    let lab = Lab::with_script(Script {
        turns: vec![Turn::text("one"), Turn::text("two")],
        rules: vec![("create a detailed summary".to_owned(), vec![Turn::text("<summary>SUMMARY</summary>")])],
    });
    lab.prompt("first", &["--session-id", SESSION]).assert_clean();
    let run = lab.prompt("/compact keep it short", &["--resume", SESSION]);
    run.assert_clean();
    assert!(run.lines.iter().any(|line| line["subtype"] == "compact_boundary"), "not compacted");
    assert!(!lab.model_saw().contains("execution_time_ms"), "our JSON reached the model");
}

fn a_permission_request_falls_through() {
    let lab =
        Lab::new([Turn::tool("Bash", json!({"command": "touch x", "description": "d"})), Turn::text("done")]);
    let run = lab.prompt("go", &["--permission-mode", "manual"]);
    run.assert_clean();
    assert_eq!(run.fired("PermissionRequest"), 1);
    assert!(!lab.project().join("x").exists(), "nobody allowed it");
}

fn a_session_tells_its_story() {
    let lab = Lab::with_script(Script {
        turns: vec![
            Turn::tool("Bash", json!({"command": "echo one", "description": "d"})),
            Turn::tool("Bash", json!({"command": "exit 3", "description": "d"})),
            Turn::text("first done"),
            Turn::text("second done"),
        ],
        rules: vec![("create a detailed summary".to_owned(), vec![Turn::text("<summary>SUMMARY</summary>")])],
    });
    let allow = ["--allowedTools", "Bash(*)"];
    lab.prompt("do two things", &[&allow[..], &["--session-id", SESSION]].concat()).assert_clean();
    lab.prompt("/compact", &["--resume", SESSION]).assert_clean();
    let story = lab.ours_json(&["session", "show", SESSION, "--json", "--events", "0"]);
    let events: Vec<&str> =
        story["events"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    let mut rest = events.iter();
    for expected in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "PreToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
        "SessionStart",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
    ] {
        assert!(rest.any(|event| *event == expected), "no {expected} in its place: {events:?}");
    }
    assert_eq!(story["state"], "ended");
    assert_eq!(story["counters"]["compactions"], 1);
    let second = lab.prompt("another session", &allow);
    second.assert_clean();
    let second = lab.ours_json(&["session", "status", &second.session_id(), "--json"]);
    assert_eq!(second["previous_session_id"], SESSION);
}

fn what_init_writes_works() {
    let script = || {
        [
            Turn::tool("Bash", json!({"command": "echo hi", "description": "d"})),
            Turn::tool("Bash", json!({"command": "rm -rf .git", "description": "d"})),
            Turn::text("done"),
        ]
    };
    let lab = Lab::new(script());
    lab.write(".git/config", "");
    lab.ours(&["init", "--yes"]);
    let run = lab.prompt_as_installed("go", &["--allowedTools", "Bash(*)"]);
    run.assert_clean();
    assert!(lab.project().join(".git/config").exists());
    let story = lab.ours_json(&["session", "show", &run.session_id(), "--json", "--events", "0"]);
    let events: Vec<&str> =
        story["events"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect();
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ] {
        assert!(events.contains(&event), "{event} is not among {events:?}");
    }
    assert_eq!(story["counters"]["calls_denied"], 1, "{story:#}");
    lab.ours(&["uninstall", "--yes", "--purge"]);
    assert!(!lab.project().join(".claude").exists() && !lab.project().join(".context-graph").exists());
    let lab = lab.play(script());
    let run = lab.prompt_as_installed("go", &["--allowedTools", "Bash(*)"]);
    assert_eq!(run.hooks().count(), 0, "no hook is left");
}
