//! What commands answer with `--json`: one format for answers and failures, described in
//! `docs/reference/answers.schema.json`.
//!
//! The `--json` runs of all other tests are checked against the schema too (`common/answers.rs`).
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::path::PathBuf;

use common::{Place, answers};
use serde_json::{Value, json};

fn event(place: &Place, name: &str, own: &Value) {
    let mut payload =
        json!({"hook_event_name": name, "session_id": "s1", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    place.send(&["hooks", "event"], payload.to_string()).succeeded();
}

/// A session with a call that succeeded, one that failed, one that was denied and one without an answer.
fn worked_in() -> Place {
    let place = Place::without_upkeep();
    event(&place, "SessionStart", &json!({"source": "startup", "model": "m"}));
    event(&place, "UserPromptSubmit", &json!({"prompt": "rename the parser module"}));
    for (id, command) in [("t1", "ls"), ("t2", "make"), ("t3", "rm -rf ~"), ("t4", "sleep 1")] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
        event(&place, "PreToolUse", &call);
        let mut done = call.clone();
        match id {
            "t1" => {
                done["tool_response"] = json!({"stdout": "a", "stderr": "", "interrupted": false});
                event(&place, "PostToolUse", &done);
            }
            "t2" => {
                done["error"] = json!("Exit code 2");
                event(&place, "PostToolUseFailure", &done);
            }
            _ => {}
        }
    }
    event(&place, "Stop", &json!({"stop_hook_active": false}));
    place
}

fn transcript(place: &Place) -> String {
    let line = |own: Value| {
        let mut line = json!({"sessionId": "past", "cwd": place.project(), "timestamp": "2026-01-02T03:04:05.000Z",
            "version": "2.0.0", "isSidechain": false});
        line.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        line.to_string()
    };
    let text = [
        line(json!({"type": "user", "uuid": "a", "message": {"role": "user", "content": "clean the house"}})),
        line(json!({"type": "assistant", "uuid": "b", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "p1", "name": "Bash", "input": {"command": "rm -rf ~"}}]}})),
        line(json!({"type": "user", "uuid": "c", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "p1", "content": "no", "is_error": true}]}})),
    ];
    let path = place.project().join("past.jsonl");
    std::fs::write(&path, text.join("\n") + "\n").unwrap();
    path.to_str().unwrap().to_owned()
}

/// Every command with `--json`, in an order in which each has something to report.
fn play(place: &Place) -> Vec<Vec<String>> {
    let past = transcript(place);
    let cupcake = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cupcake/bakery");
    let cases = place.project().join("cases.jsonl");
    std::fs::write(
        &cases,
        "{\"command\": \"ls\", \"expect\": \"none\"}\n{\"command\": \"rm -rf ~\", \"expect\": \"ask\"}\n",
    )
    .unwrap();
    let (cupcake, cases) = (cupcake.to_str().unwrap(), cases.to_str().unwrap());
    let asked: &[&[&str]] = &[
        &["init", "--yes"],
        &["init", "--dry-run"],
        &["doctor"],
        &["config", "show"],
        &["config", "path"],
        &["config", "schema"],
        &["config", "set", "inject.enabled", "true"],
        &["self", "check"],
        &["session", "list"],
        &["session", "show", "s1", "--explain"],
        &["session", "status"],
        &["session", "export", "s1", "--output", "s1.jsonl"],
        &["session", "load", "s1"],
        &["session", "save", "identity.json"],
        &["consciousness", "brief"],
        &["consciousness", "status"],
        &["consciousness", "explain"],
        &["consciousness", "inject"],
        &["audit", "log"],
        &["audit", "show", "t1"],
        &["audit", "show", "t3"],
        &["audit", "trace"],
        &["audit", "stats"],
        &["audit", "stats", "--hooks"],
        &["audit", "report", "--html", "s1.html"],
        &["audit", "verify"],
        &["audit", "export", "--output", "all.jsonl"],
        &["audit", "sql", "SELECT tool, outcome FROM v_calls"],
        &["replay", &past],
        &["import", &past],
        &["session", "import", "s1.jsonl", "--replace"],
        &["session", "prune", "--older-than", "1d", "--dry-run"],
        &["session", "prune", "--older-than", "1d", "--yes"],
        &["session", "forget", "s1", "--yes"],
        &["maintain"],
        &["maintain", "--rebuild"],
        &["policy", "list"],
        &["policy", "check"],
        &["policy", "explain", "--command", "rm -rf ~"],
        &["policy", "allow", "secrets/read-key", "--path", "tests/fixtures/**", "--yes"],
        &["policy", "test", cases],
        &["policy", "replay", &past],
        &["policy", "init", "--user"],
        &["policy", "import", cupcake, "--partial", "--force"],
        &["trust", "--dry-run"],
        &["trust", "--yes"],
        &["trust", "--list"],
        &["trust", "--revoke"],
        &["server", "invite", "ada"],
        &["server", "check"],
        &["server", "members"],
        &["hooks", "generate-config"],
        &["plugin", "build", "plugin"],
        &["uninstall", "--yes"],
    ];
    let mut played = Vec::new();
    for words in asked {
        let args = [words, &["--json"][..]].concat();
        let run = place.run(&args);
        if words.starts_with(&["session", "load"]) {
            std::fs::write(place.project().join("identity.json"), &run.stdout).unwrap();
        }
        // Some report problems by their exit code, but still answer.
        let may_fail = matches!(**words, ["doctor"] | ["self", "check"] | ["policy", "test" | "check", ..]);
        assert!(run.code == 0 || may_fail, "{words:?}: {run:?}");
        assert!(!answers::is_failure(&run), "{words:?}: {run:?}");
        played.push(words.iter().map(|word| (*word).to_owned()).collect());
    }
    played
}

#[test]
fn every_verb_answers_programs_as_the_schema_says() {
    let played: BTreeSet<String> =
        play(&worked_in()).iter().filter_map(|words| answers::verb(words)).collect();
    let mut described: BTreeSet<String> = answers::verbs().into_iter().collect();
    // The dashboard runs until it is ended, and has its own test.
    described.remove("dashboard");
    // These need a server; `team.rs` and `team_policy.rs` test them.
    described.remove("team pull");
    // This one needs PostgreSQL; the server's own tests cover its parts.
    described.remove("server bench");
    described.remove("team push");
    described.remove("team status");
    assert_eq!(played, described);
}

#[test]
fn keys_are_written_in_one_style() {
    fn look(schema: &Value, found: &mut Vec<String>) {
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            if !key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
                found.push(key.clone());
            }
            look(inner, found);
        }
        match schema {
            Value::Object(map) => {
                map.iter().filter(|(key, _)| *key != "properties").for_each(|(_, inner)| look(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| look(inner, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for verb in answers::schema()["properties"].as_object().unwrap().values() {
        look(verb, &mut found);
    }
    look(&answers::schema()["$defs"], &mut found);
    assert!(found.is_empty(), "not snake_case: {found:?}");
}

#[test]
fn the_dashboard_tells_programs_its_address() {
    let place = worked_in();
    let mut child = place.command(&["dashboard", "--no-open", "--json"]).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let run = common::Run { code: 0, stdout: line, stderr: String::new() };
    answers::check(&["dashboard", "--json"], &run);
    assert!(run.json()["address"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{run:?}");
}

#[test]
fn failures_have_one_form() {
    let place = worked_in();
    for (args, code) in [
        (&["session", "show", "nobody", "--json"][..], "session_not_found"),
        (&["audit", "show", "nothing", "--json"], "call_not_found"),
        (&["audit", "sql", "DELETE FROM calls", "--json"], "validation"),
        (&["audit", "log", "--since", "whenever", "--json"], "usage"),
        (&["audit", "log", "--no-such-flag", "--json"], "usage"),
        (&["sesion", "list", "--json"], "usage"),
        (&["audit", "search", "x", "--json"], "usage"),
        (&["replay", "no-such-file", "--json"], "parse"),
        (&["audit", "--json"], "usage"),
    ] {
        let run = place.run(args);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert!(answers::is_failure(&run), "{args:?}: {run:?}");
        assert_eq!(run.json()["error_code"], code, "{args:?}: {run:?}");
    }
    let hint = place.run(&["audit", "search", "x", "--json"]).json();
    assert!(hint["hint"].as_str().unwrap().contains("audit log --text"), "{hint}");
}
