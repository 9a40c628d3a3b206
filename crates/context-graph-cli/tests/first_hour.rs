//! What somebody meets in the first hour at a terminal: mistakes, questions, and what is left behind.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use common::Place;
use serde_json::{Value, json};

fn event(place: &Place, session: &str, name: &str, own: Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": session, "transcript_path": "", "cwd": place.project()});
    event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    event
}

fn sent(place: &Place, session: &str, name: &str, own: Value) -> Value {
    place.send(&["hooks", "event"], event(place, session, name, own).to_string()).succeeded()
}

#[test]
fn every_mistake_on_the_command_line_is_told_in_one_style() {
    let place = Place::new();
    for (words, wrong, next) in [
        (&["audit", "lgo"][..], "`audit` has no command `lgo`", "perhaps `context-graph audit log`?"),
        (&["audit", "shwo"], "`audit` has no command `shwo`", "perhaps `context-graph audit show`?"),
        (&["frobnicate"], "there is no command `frobnicate`", "`context-graph --help` lists them"),
        (&["session", "list", "--wide"], "`session list` has no option `--wide`", "--help"),
        (&["audit", "log", "--jsn"], "`audit log` has no option `--jsn`", "perhaps `--json`?"),
        (&["audit", "log", "--outcome", "deny"], "cannot be `deny`: perhaps `denied`?", "--help"),
        (&["audit", "log", "--verdict", "denied"], "no verdict is called `denied`", "perhaps `deny`?"),
        (
            &["audit", "log", "--event", "PreToolUs"],
            "no event is called `PreToolUs`",
            "perhaps `PreToolUse`?",
        ),
        (&["audit", "log", "--outcome"], "`--outcome <OUTCOME>` needs a value", "--help"),
        (&["audit", "log", "-n", "-1"], "no option `-1`", "--help"),
        (&["dashboard", "--port", "99999"], "`--port <PORT>` cannot be `99999`", "--help"),
        (&["replay", "--format", "jsonll"], "`--format <FORMAT>` cannot be `jsonll`", "perhaps `jsonl`?"),
        (&["audit", "show"], "`<ID>` is missing", "`context-graph audit log` shows the ids"),
        (&["policy", "allow"], "`<RULE>...` is missing", "`context-graph policy list`"),
        (&["config", "set"], "are missing", "`context-graph config show`"),
        (&["audit", "sql"], "`<QUERY>` is missing", "lists the views"),
        (&["init", "--shared", "--user"], "`--shared` and `--user` cannot be given together", "leave one"),
        (&["policy"], "`policy` needs a command", "one of those above"),
    ] {
        let run = place.run(words);
        let told = run.stderr.lines().last().unwrap_or_default();
        assert!(run.code == 1 && run.stdout.is_empty(), "{words:?}: {run:?}");
        assert!(
            told.starts_with("context-graph: ") && told.contains(wrong) && told.contains(next),
            "{words:?}: {told}"
        );
        assert!(!run.stderr.contains("For more information") && !run.stderr.contains("error: "), "{run:?}");
        let as_json = place.run(&[words, &["--json"]].concat());
        let object: Value =
            serde_json::from_str(&as_json.stdout).unwrap_or_else(|_| panic!("{words:?}: {as_json:?}"));
        assert_eq!((as_json.code, &object["error_code"]), (1, &json!("usage")), "{words:?}: {object}");
        assert!(
            object["message"].as_str().unwrap().len() > 5 && object["hint"].as_str().unwrap().len() > 5,
            "{object}"
        );
    }
    // A hook answers its caller in its own form.
    let hook = place.run(&["hooks", "pre-tool", "--no-such-flag"]);
    assert!(
        hook.stdout.contains("has no option `--no-such-flag`") && hook.stderr.starts_with("context-graph: "),
        "{hook:?}"
    );
}

#[test]
fn a_purge_asks_once_and_says_all_of_it_before() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let state = place.project().join(".context-graph");
    place.trusted_file("policy.toml", "");
    let mut no = place.on_terminal(&["uninstall", "--purge"], 200);
    no.expect("to be removed:")
        .expect("what you wrote there: policy.toml")
        .expect("Do all of this?")
        .press("no\n");
    let said = no.end();
    assert!(said.code == 1 && state.exists() && said.stdout.contains("nothing was changed"), "{said:?}");
    assert!(place.project().join(".claude/settings.local.json").exists(), "no half is done");
    let mut yes = place.on_terminal(&["uninstall", "--purge"], 200);
    yes.expect("Do all of this?")
        .press("maybe\n")
        .expect("please answer")
        .press("d\n")
        .expect("-    \"PreToolUse\"");
    yes.press("YES\n");
    let said = yes.end();
    assert_eq!((said.code, said.stdout.matches("[y/N").count()), (0, 3), "{said:?}");
    assert!(!state.exists() && !place.project().join(".claude").exists(), "{said:?}");
}

#[test]
fn programs_get_the_entries_that_people_get() {
    let place = Place::without_upkeep();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "echo"}, "tool_use_id": "t1"});
    sent(&place, "s", "PreToolUse", call.clone());
    let mut done = call.clone();
    done["tool_response"] = json!({"stdout": "x"});
    sent(&place, "s", "PostToolUse", done.clone());
    sent(&place, "s", "PostToolBatch", json!({"tool_calls": [done]}));
    let rows = |args: &[&str]| serde_json::from_str::<Vec<Value>>(&place.run(args).stdout).unwrap().len();
    assert_eq!(rows(&["audit", "log", "--json"]), 1);
    assert_eq!(rows(&["audit", "log", "--json", "--all"]), 2);
    assert_eq!(rows(&["audit", "log", "--json", "--event", "PostToolBatch"]), 1);
    let table = place.run(&["audit", "log"]).stdout;
    assert_eq!(table.lines().take_while(|line| !line.is_empty()).count(), 1, "{table}");
}

#[test]
fn a_question_in_sql_about_something_that_is_not_there_is_answered_with_what_is() {
    let place = Place::without_upkeep();
    sent(&place, "s", "SessionStart", json!({"source": "startup"}));
    sent(&place, "s", "SessionEnd", json!({"reason": "other"}));
    // An open session alone is not "no session".
    let open = Place::without_upkeep();
    sent(&open, "s", "UserPromptSubmit", json!({"prompt": "hello"}));
    let early = open.run(&["audit", "sql", "SELECT 1"]);
    assert!(early.code == 1 && early.stderr.contains("`context-graph audit log`"), "{early:?}");
    let wrong = place.run(&["audit", "sql", "SELECT * FROM call"]);
    assert!(wrong.code == 1 && wrong.stderr.contains("perhaps `v_calls`?"), "{wrong:?}");
    let wrong = place.run(&["audit", "sql", "SELECT result FROM v_calls"]);
    assert!(
        wrong.code == 1 && wrong.stderr.contains("v_decisions") && wrong.stderr.contains("--help"),
        "{wrong:?}"
    );
    // The help lists the existing columns.
    let help = place.run(&["audit", "sql", "--help"]).stdout;
    for view in ["v_sessions", "v_calls", "v_decisions"] {
        let told = help.lines().find_map(|line| line.trim().strip_prefix(&format!("{view}: "))).unwrap();
        let asked = place.run(&["audit", "sql", "--format", "csv", &format!("SELECT * FROM {view}")]).stdout;
        let columns = asked.lines().next().unwrap().replace('"', "").replace(',', ", ");
        assert_eq!(told, columns);
    }
}

#[test]
fn nothing_to_replay_is_an_object_for_programs() {
    let place = Place::new();
    let empty = place.project().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let run = place.run(&["replay", empty.to_str().unwrap(), "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, "{\"events\":0}\n"), "{run:?}");
    let run = place.send(&["replay", "--events", "-", "--json"], "");
    assert_eq!(run.stdout, "{\"events\":0}\n", "{run:?}");
}

#[test]
fn doctor_says_that_claude_code_was_not_found() {
    let place = Place::new();
    let before = place.run(&["doctor"]);
    assert!(!before.stdout.contains("warning"), "not installed is one thing to say: {before:?}");
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let run = place.run(&["doctor"]);
    assert!(run.code == 0 && run.stdout.contains("warning  Claude Code was not found"), "{run:?}");
    assert!(
        run.stdout.contains("fix: install Claude Code") && !run.stdout.contains("All is well"),
        "{run:?}"
    );
    let check = place.run(&["self", "check"]).stdout;
    assert!(
        check.contains("Claude Code was not found") && check.contains("The parts that were found fit"),
        "{check}"
    );
}

#[test]
fn waiting_for_the_payload_is_not_our_time() {
    let place = Place::without_upkeep();
    sent(&place, "s", "SessionStart", json!({"source": "startup"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "echo"}, "tool_use_id": "t1"});
    let payload = event(&place, "s", "PreToolUse", call).to_string();
    let mut command = place.command(&["hooks", "event"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (one, other) = payload.split_at(payload.len() / 2);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(one.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(60));
    stdin.write_all(other.as_bytes()).unwrap();
    drop(stdin);
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert!(answer["execution_time_ms"].as_u64().unwrap() < 50, "{answer}");
    let stats = place.run(&["audit", "stats", "--json"]).stdout;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let own = stats["hooks"].as_array().unwrap().iter().find(|hook| hook["event"] == "PreToolUse");
    let took = own.unwrap()["took_us"]["max"].as_u64().unwrap();
    assert!(took < 50_000, "{took} µs: {stats}");
}

#[test]
fn a_browser_that_cannot_be_opened_is_told() {
    let place = Place::new();
    let folder = place.project().join("bin");
    std::fs::create_dir(&folder).unwrap();
    for (script, why) in [(None, "xdg-open"), (Some("#!/bin/sh\nexit 3\n"), "exit status: 3")] {
        if let Some(script) = script {
            let path = folder.join("xdg-open");
            common::write_program(&path, script);
        }
        let mut command = place.command(&["dashboard"]);
        command.env("PATH", &folder);
        let mut terminal = common::terminal::OnTerminal::start(command, 300);
        terminal.expect("http://127.0.0.1:").expect("no browser could be opened").expect(why).interrupt();
        terminal.end();
    }
}
