//! Calls of others: subagents, background tasks, and sessions that continue other sessions.

use serde_json::{Value, json};

use super::EVERYTHING;
use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION, wait_until};
use crate::model::{Script, Turn, call_id};

pub fn all() -> Vec<Test> {
    tests![
        "records":
        calls_of_a_subagent_carry_its_id,
        an_import_of_the_transcripts_has_the_title_and_the_subagents_calls,
        a_subagent_in_the_background_reports_back,
        a_command_in_the_background_is_there_once,
        a_resumed_session_goes_on_in_its_record,
        a_forked_session_has_a_record_of_its_own,
    ]
}

fn agent(in_background: bool) -> Turn {
    Turn::tool(
        "Agent",
        json!({"description": "helper", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
            "run_in_background": in_background}),
    )
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

/// Importing the transcripts into a separate database gives the same session as the hooks recorded.
fn an_import_of_the_transcripts_has_the_title_and_the_subagents_calls() {
    let script = Script::new([Turn::bash("echo main"), agent(false), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::bash("exit 3"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    lab.prompt("go", &[&EVERYTHING[..], &["--session-id", SESSION, "--name", "Pears counted"]].concat())
        .assert_clean();
    let imported = lab.folder().join("imported");
    let imported = imported.to_str().unwrap();
    let tally = lab.ours_json(&["import", "--json", "--db-path", imported]);
    assert_eq!((&tally["imported"], &tally["lines_refused"]), (&json!(1), &json!(0)), "{tally}");
    let of = |args: &[&str]| {
        let list = lab.ours_json(&[&["session", "list", "--json"], args].concat());
        let session = list.as_array().unwrap().iter().find(|session| session["session_id"] == SESSION);
        let session = session.unwrap_or_else(|| panic!("{list}")).clone();
        let counted = ["calls", "calls_succeeded", "calls_failed", "prompts", "turns", "subagents"];
        (session["title"].clone(), counted.map(|key| session["counters"][key].clone()))
    };
    let (title, counted) = of(&[]);
    assert_eq!(title, "Pears counted");
    assert_eq!(counted, [4, 3, 1, 1, 1, 1].map(|count| json!(count)));
    assert_eq!(of(&["--db-path", imported]), (title, counted));
    let calls = |args: &[&str]| {
        let log = lab.ours_json(&[&["audit", "log", "--json", "--all", "--tool", "Bash"], args].concat());
        let mut calls: Vec<(String, Value)> = log
            .as_array()
            .unwrap()
            .iter()
            .map(|call| (call["tool_use_id"].as_str().unwrap().to_owned(), call["agent_id"].clone()))
            .collect();
        calls.sort_by(|a, b| a.0.cmp(&b.0));
        calls
    };
    assert_eq!(calls(&[]).len(), 3);
    assert_eq!(calls(&["--db-path", imported]), calls(&[]));
    assert_eq!(lab.ours_json(&["import", "--json", "--db-path", imported])["known"], 1);
}

fn a_subagent_in_the_background_reports_back() {
    let script = Script::new([agent(true), Turn::text("started it"), Turn::text("it is done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    let mut conversation = lab.converse(&EVERYTHING);
    conversation.say("go");
    lab.wait_for_event("SubagentStop", 1);
    // The client gives the subagent's result to the model as a prompt that nobody typed.
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
