//! It records: every call once with its end, whoever made it, whatever became of it, and no secrets.

use serde_json::{Value, json};

use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION, wait_until};
use crate::model::{Script, Turn, call_id};

pub fn all() -> Vec<Test> {
    tests![
        "records":
        a_session_tells_its_story,
        parallel_calls_are_each_there_once,
        calls_that_fail_are_told_from_those_that_do_not,
        a_denied_call_is_there_without_an_end,
        calls_of_a_subagent_carry_its_id,
        a_subagent_in_the_background_reports_back,
        a_command_in_the_background_is_there_once,
        a_resumed_session_goes_on_in_its_record,
        a_forked_session_has_a_record_of_its_own,
        a_client_that_is_killed_loses_nothing,
        no_secret_is_stored,
    ]
}

const EVERYTHING: [&str; 2] = ["--allowedTools", "Bash(*)"];

fn agent(in_background: bool) -> Turn {
    Turn::tool(
        "Agent",
        json!({"description": "helper", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
            "run_in_background": in_background}),
    )
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

fn calls_of_a_subagent_carry_its_id() {
    let script = Script::new([Turn::bash("echo main"), agent(false), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    let run = lab.prompt("go", &EVERYTHING);
    run.assert_clean();
    let record = lab.record(&run.session_id());
    for n in 1..=3 {
        record.assert_call(&call_id(n), "PostToolUse");
    }
    lab.assert_outcomes(&run.session_id(), (1..=3).map(|n| (n, "success")));
    let agent = record.only("SubagentStart").text("agent_id").to_owned();
    assert!(!agent.is_empty());
    assert_eq!(record.only("SubagentStop").text("agent_id"), agent);
    for event in ["PreToolUse", "PostToolUse"] {
        let by_agent: Vec<(&Value, &str)> = record
            .of(event)
            .map(|entry| (&entry.payload["tool_input"]["command"], entry.text("agent_id")))
            .filter(|(_, by)| !by.is_empty())
            .collect();
        assert_eq!(by_agent, [(&json!("echo sub"), agent.as_str())], "{event}");
    }
}

fn a_subagent_in_the_background_reports_back() {
    let script = Script::new([agent(true), Turn::text("started it"), Turn::text("it is done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    let mut conversation = lab.converse(&EVERYTHING);
    conversation.say("go");
    lab.wait_for_event("SubagentStop", 1);
    // What it came to is given to the model as a prompt that nobody typed.
    lab.wait_for_event("UserPromptSubmit", 2);
    lab.wait_for_event("Stop", 2);
    let run = conversation.end();
    run.assert_clean();
    let record = lab.record(&run.session_id());
    let prompts: Vec<&str> = record.of("UserPromptSubmit").map(|entry| entry.text("prompt")).collect();
    assert!(prompts[1].starts_with("<task-notification>"), "{prompts:?}");
    record.assert_call(&call_id(1), "PostToolUse");
    record.assert_call(&call_id(2), "PostToolUse");
    lab.assert_outcomes(&run.session_id(), [(1, "success"), (2, "success")]);
    let status = lab.ours_json(&["session", "status", &run.session_id(), "--json"]);
    let counters = &status["counters"];
    assert_eq!((&counters["prompts"], &counters["machine_prompts"]), (&json!(1), &json!(1)), "{counters}");
}

fn a_command_in_the_background_is_there_once() {
    let command = "while [ -e running ]; do sleep 0.1; done; echo later > later.txt";
    let call = json!({"command": command, "description": "d", "run_in_background": true});
    let lab = Lab::new([Turn::tool("Bash", call), Turn::text("started it"), Turn::text("it is done")]);
    let running = lab.write("running", "");
    let mut conversation = lab.converse(&EVERYTHING);
    conversation.say("go");
    std::fs::remove_file(running).unwrap();
    wait_until("the command's end", || lab.has("later.txt"));
    let run = conversation.end();
    run.assert_clean();
    let record = lab.record(&run.session_id());
    record.assert_call(&call_id(1), "PostToolUse");
    lab.assert_outcomes(&run.session_id(), [(1, "success")]);
    let tasks = record.of("Stop").next().unwrap().payload["background_tasks"].clone();
    assert_eq!(tasks.as_array().map(Vec::len), Some(1), "{tasks}");
}

fn a_resumed_session_goes_on_in_its_record() {
    let lab =
        Lab::new([Turn::bash("echo one"), Turn::text("first"), Turn::bash("echo two"), Turn::text("second")]);
    lab.prompt("one", &[&EVERYTHING[..], &["--session-id", SESSION]].concat()).assert_clean();
    let before = lab.record(SESSION).events().len();
    let run = lab.prompt("two", &[&EVERYTHING[..], &["--resume", SESSION]].concat());
    assert_eq!(run.assert_clean().session_id(), SESSION);
    assert_eq!(lab.sessions(), [SESSION]);
    let record = lab.record(SESSION);
    assert!(record.events().len() > before);
    record.assert_call(&call_id(1), "PostToolUse");
    record.assert_call(&call_id(2), "PostToolUse");
    lab.assert_outcomes(SESSION, [(1, "success"), (2, "success")]);
    let sources: Vec<&str> = record.of("SessionStart").map(|entry| entry.text("source")).collect();
    assert_eq!(sources, ["startup", "resume"]);
}

fn a_forked_session_has_a_record_of_its_own() {
    let lab =
        Lab::new([Turn::bash("echo one"), Turn::text("first"), Turn::bash("echo two"), Turn::text("second")]);
    lab.prompt("one", &[&EVERYTHING[..], &["--session-id", SESSION]].concat()).assert_clean();
    let before = lab.ours(&["session", "export", SESSION]);
    let run = lab.prompt("two", &[&EVERYTHING[..], &["--resume", SESSION, "--fork-session"]].concat());
    let fork = run.assert_clean().session_id();
    assert_ne!(fork, SESSION);
    assert_eq!(
        lab.ours(&["session", "export", SESSION]),
        before,
        "the fork wrote into the record it came from"
    );
    let record = lab.record(&fork);
    assert_eq!(record.only("SessionStart").text("source"), "fork");
    record.assert_call(&call_id(2), "PostToolUse");
    assert_eq!(record.count("PreToolUse"), 1);
    lab.assert_outcomes(SESSION, [(1, "success")]);
    lab.assert_outcomes(&fork, [(2, "success")]);
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
    // Well-formed and made up.
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
