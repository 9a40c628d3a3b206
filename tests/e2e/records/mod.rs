//! Records: every call once, with its outcome, whoever made it, and without secrets.

mod others;

use serde_json::json;

use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION};
use crate::model::{Script, Turn, call_id};

pub fn all() -> Vec<Test> {
    let here = tests![
        "records":
        a_session_tells_its_story,
        parallel_calls_are_each_there_once,
        calls_that_fail_are_told_from_those_that_do_not,
        a_denied_call_is_there_without_an_end,
        a_client_that_is_killed_loses_nothing,
        no_secret_is_stored,
        a_replay_of_the_transcript_counts_what_the_hooks_counted,
    ];
    here.into_iter().chain(others::all()).collect()
}

const EVERYTHING: [&str; 2] = ["--allowedTools", "Bash(*)"];

fn a_replay_of_the_transcript_counts_what_the_hooks_counted() {
    let lab = Lab::new([
        Turn::bash("echo one"),
        Turn::bash("exit 3"),
        Turn::bash("rm -rf .git"),
        Turn::text("first"),
        Turn::text("second"),
    ]);
    lab.write(".git/config", "");
    lab.prompt("do three things", &[&EVERYTHING[..], &["--session-id", SESSION]].concat()).assert_clean();
    lab.prompt("say more", &[&EVERYTHING[..], &["--resume", SESSION]].concat()).assert_clean();
    let told = "2 prompts, 3 tool calls (1 succeeded, 1 failed, 0 interrupted, 1 denied), 2 turns";
    let status = lab.ours(&["session", "status", SESSION]);
    assert!(status.contains(told), "{status}");
    let transcripts = lab.folder().join("home/.claude/projects");
    let replayed = lab.ours(&["replay", transcripts.to_str().unwrap()]);
    assert!(replayed.contains(told), "{replayed}");
}

fn a_session_tells_its_story() {
    let turns = [Turn::bash("echo one"), Turn::bash("exit 3"), Turn::text("first"), Turn::text("second")];
    let lab = Lab::with_script(Script::new(turns).with_summary("SUMMARY"));
    lab.prompt("do two things", &[&EVERYTHING[..], &["--session-id", SESSION]].concat()).assert_clean();
    lab.prompt("/compact", &["--resume", SESSION]).assert_clean();
    lab.record(SESSION).assert_in_order(&[
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
    ]);
    let story = lab.ours_json(&["session", "show", SESSION, "--json", "--events", "0"]);
    assert_eq!((&story["state"], &story["counters"]["compactions"]), (&json!("ended"), &json!(1)));
    let second = lab.prompt("another session", &EVERYTHING);
    let status = lab.ours_json(&["session", "status", &second.assert_clean().session_id(), "--json"]);
    assert_eq!(status["previous_session_id"], SESSION);
}

fn parallel_calls_are_each_there_once() {
    const CALLS: usize = 12;
    let call = |n| ("Bash", json!({"command": format!("echo {n}"), "description": "d"}));
    let lab = Lab::new([Turn::tools((1..=CALLS).map(call)), Turn::text("done")]);
    let run = lab.prompt("go", &EVERYTHING);
    run.assert_clean();
    assert_eq!((run.fired("PreToolUse"), run.fired("PostToolUse")), (CALLS, CALLS));
    let record = lab.record(&run.session_id());
    for n in 1..=CALLS {
        record.assert_call(&call_id(n), "PostToolUse");
    }
    lab.assert_outcomes(&run.session_id(), (1..=CALLS).map(|n| (n, "success")));
    let batch = record.only("PostToolBatch");
    assert_eq!(batch.payload["tool_calls"].as_array().unwrap().len(), CALLS);
}

fn calls_that_fail_are_told_from_those_that_do_not() {
    let lab = Lab::new([
        Turn::bash("echo out; exit 3"),
        Turn::tool("Read", json!({"file_path": "/nowhere/at/all"})),
        Turn::bash("echo fine"),
        Turn::text("done"),
    ]);
    let run = lab.prompt("go", &["--allowedTools", "Bash(*)", "Read"]);
    run.assert_clean();
    let record = lab.record(&run.session_id());
    record.assert_call(&call_id(1), "PostToolUseFailure");
    record.assert_call(&call_id(2), "PostToolUseFailure");
    record.assert_call(&call_id(3), "PostToolUse");
    lab.assert_outcomes(&run.session_id(), [(1, "failure"), (2, "failure"), (3, "success")]);
    let failed = record.of("PostToolUseFailure").next().unwrap();
    assert!(failed.text("error").contains('3') && failed.payload["is_interrupt"] == false, "{failed:?}");
}

fn a_denied_call_is_there_without_an_end() {
    let lab = Lab::new([Turn::bash("rm -rf /"), Turn::bash("echo fine"), Turn::text("done")]);
    let run = lab.prompt("go", &EVERYTHING);
    run.assert_clean();
    let record = lab.record(&run.session_id());
    let denied: Vec<_> =
        record.of("PreToolUse").filter(|entry| entry.tool_use_id() == Some(&call_id(1))).collect();
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0].ruling["verdict"], "deny");
    record.assert_call(&call_id(2), "PostToolUse");
    assert_eq!((record.count("PostToolUse"), record.count("PostToolUseFailure")), (1, 0));
    assert_eq!(record.count("PostToolBatch"), 2, "the batch tells of the denied call as well");
    lab.assert_outcomes(&run.session_id(), [(1, "denied"), (2, "success")]);
}

fn a_client_that_is_killed_loses_nothing() {
    let lab = Lab::new([Turn::bash("echo one"), Turn::bash_while("running"), Turn::text("never")]);
    lab.write("running", "");
    let mut conversation = lab.converse(&[&EVERYTHING[..], &["--session-id", SESSION]].concat());
    conversation.begin("go");
    lab.wait_for_event("PreToolUse", 2);
    // Dropping it kills it.
    drop(conversation);
    let record = lab.record(SESSION);
    record.assert_call(&call_id(1), "PostToolUse");
    assert_eq!(
        (record.count("PreToolUse"), record.count("PostToolUse"), record.count("SessionEnd")),
        (2, 1, 0)
    );
    lab.play([Turn::text("here again")]);
    lab.prompt("go on", &["--resume", SESSION]).assert_clean();
    lab.record(SESSION).assert_in_order(&["PreToolUse", "PreToolUse", "SessionStart", "Stop", "SessionEnd"]);
    lab.assert_outcomes(SESSION, [(1, "success"), (2, "interrupted")]);
}

fn no_secret_is_stored() {
    // An invented token in a valid format.
    let secret = ["ghp", "_", "q7Rk2mXv9LbT4wYz8NcJ5hPd3sFg6aHe1uKo"].concat();
    let lab = Lab::new([Turn::bash(&format!("echo token {secret}")), Turn::text(&format!("it is {secret}"))]);
    let run = lab.prompt(&format!("my token is {secret}"), &EVERYTHING);
    run.assert_clean();
    assert!(lab.model_saw().contains(&secret), "the model sees what the user typed");
    let exported = lab.ours(&["session", "export", &run.session_id()]);
    assert!(exported.contains("my token is") && !exported.contains(&secret), "{exported}");
    let mut folders = vec![lab.project().join(".context-graph")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                let bytes = std::fs::read(entry.path()).unwrap();
                let there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!there, "the secret is in {}", entry.path().display());
            }
        }
    }
    assert!(files > 0);
}
