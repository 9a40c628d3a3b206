//! What a new user meets: empty projects, typing mistakes, repeated commands, answers for programs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::BufRead as _;

use common::Place;
use serde_json::{Value, json};

fn prompt(place: &Place, session: &str, text: &str) {
    let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "transcript_path": "",
        "cwd": place.project(), "prompt": text});
    place.send(&["hooks", "event"], event.to_string()).succeeded();
}

fn list(place: &Place, args: &[&str]) -> Vec<Value> {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error} in {run:?}"))
}

fn settings(place: &Place, folder: &str, name: &str) -> std::path::PathBuf {
    place.project().join(folder).join(name)
}

#[test]
fn json_for_programs_cannot_drive_a_terminal() {
    let place = Place::new();
    let said = "a\u{9b}31m\u{202e}b\u{200b}c\u{7f}";
    prompt(&place, "s1", said);
    for args in [&["audit", "log", "--json"][..], &["session", "show", "--json"], &["session", "export"]] {
        let run = place.run(args);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("\\u009b") && run.stdout.contains("\\u202e"), "{args:?}: {run:?}");
        let raw = run.stdout.chars().find(|c| said.contains(*c) && !c.is_ascii_graphic());
        assert_eq!(raw, None, "{args:?}: {run:?}");
    }
    let log = list(&place, &["audit", "log", "--json"]);
    assert!(log.iter().any(|entry| entry["subject"].as_str().is_some_and(|it| it.contains('\u{202e}'))));
}

#[test]
fn init_and_uninstall_answer_programs_even_with_nothing_to_do() {
    let place = Place::new();
    let answer = |args: &[&str]| place.run(args).json();
    assert_eq!(answer(&["uninstall", "--json"])["changed"], false);
    let shown = answer(&["init", "--json", "--dry-run"]);
    assert!(shown["changed"] == false && shown["dry_run"] == true && shown["diff"] != "", "{shown}");
    assert_eq!(answer(&["init", "--json", "--yes"])["changed"], true);
    let again = answer(&["init", "--json", "--yes"]);
    assert!(again["changed"] == false && again["changes"] == json!([]) && again["diff"] == "", "{again}");
    assert_eq!(answer(&["uninstall", "--json", "--yes"])["changed"], true);
    let refused = Place::new().run(&["init", "--json"]);
    assert!(refused.code == 1 && refused.json()["error_code"] == "usage", "one answer: {refused:?}");
}

#[test]
fn rego_rules_are_listed_with_file_package_and_route() {
    let place = Place::new();
    let folder = place.project().join(".context-graph/policies/team");
    std::fs::create_dir_all(&folder).unwrap();
    let policy = |package: &str, decision: &str| {
        format!(
            "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n\
             #     required_tools: [\"Bash\"]\npackage cupcake.policies.{package}\n\nimport rego.v1\n\n\
             deny contains decision if {{\n    contains(input.tool_input.command, \"curl\")\n    decision := {decision}\n}}\n"
        )
    };
    let named = r#"{"rule_id": "NO-CURL", "reason": "no", "severity": "HIGH"}"#;
    std::fs::write(folder.join("no_curl.rego"), policy("no_curl", named)).unwrap();
    std::fs::write(folder.join("plain.rego"), policy("plain", "\"no\"")).unwrap();
    let rules = list(&place, &["policy", "list", "--json"]);
    let found = |id: &str| rules.iter().find(|rule| rule["rule"] == id).unwrap_or_else(|| panic!("no {id}"));
    let rule = found("NO-CURL");
    assert_eq!(rule["file"], "policies/team/no_curl.rego");
    assert_eq!(rule["package"], "cupcake.policies.no_curl");
    assert_eq!(rule["routes"], json!([{"events": ["PreToolUse"], "tools": ["Bash"], "signals": []}]));
    assert_eq!(found("plain")["package"], "cupcake.policies.plain");
    assert!(place.run(&["policy", "list"]).stdout.contains("NO-CURL"));
}

#[test]
fn looking_at_an_empty_project_makes_nothing_and_says_how_to_begin() {
    let place = Place::new();
    let commands =
        [&["session", "show"][..], &["session", "status"], &["session", "list"], &["audit", "log"]];
    for args in commands {
        let run = place.run(args);
        assert!(run.code == 0 && run.stdout.contains("no sessions yet"), "{args:?}: {run:?}");
        assert!(run.stdout.contains("`context-graph init`"), "{args:?}: {run:?}");
    }
    for args in [&["session", "show", "--json"][..], &["session", "status", "--json"]] {
        place.run(args).failed("session_not_found");
    }
    assert!(!place.project().join(".context-graph").exists());
}

#[test]
fn a_limit_of_nothing_means_all() {
    let place = Place::new();
    for number in 0..22 {
        prompt(&place, &format!("s{number}"), "hello");
    }
    assert_eq!(list(&place, &["session", "list", "--json"]).len(), 20);
    assert_eq!(list(&place, &["session", "list", "--json", "--limit", "0"]).len(), 22);
}

#[test]
fn following_from_the_beginning_shows_all_and_nothing_invisible() {
    let place = Place::new();
    for number in 0..3 {
        prompt(&place, "s", &format!("say {number}\u{9b}"));
    }
    let mut child = place.command(&["audit", "log", "--follow", "--limit", "0", "--json"]).spawn().unwrap();
    let stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        stdout.lines().map_while(Result::ok).take_while(|line| send.send(line.clone()).is_ok()).count()
    });
    let lines: Vec<_> = (0..3).map(|_| receive.recv_timeout(std::time::Duration::from_secs(30))).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    for (number, line) in lines.into_iter().enumerate() {
        let line = line.unwrap();
        assert!(line.contains(&format!("say {number}\\u009b")) && !line.contains('\u{9b}'), "{line}");
    }
}

#[test]
fn a_project_that_is_not_there_is_a_slip() {
    let place = Place::new();
    for verb in [&["session", "list"][..], &["audit", "log"], &["policy", "list"], &["config", "show"]] {
        let run = place.run(&[verb, &["--project", "/nonexistent"]].concat());
        assert!(run.code == 1 && run.stdout.is_empty(), "{verb:?}: {run:?}");
        assert!(run.stderr.contains("no such folder; give"), "{verb:?}: {run:?}");
    }
}

#[test]
fn errors_are_said_in_words_and_once() {
    let place = Place::new();
    assert_eq!(place.run(&["policy", "init"]).code, 0);
    let twice = place.run(&["policy", "init"]);
    assert!(twice.code == 1 && twice.stderr.contains("already"), "{twice:?}");
    assert!(!twice.stderr.contains("os error"), "{twice:?}");
    let alone = place.run(&["policy", "explain"]);
    assert!(alone.code == 1 && alone.stderr.contains("--command"), "{alone:?}");
    std::fs::create_dir_all(place.project().join(".claude")).unwrap();
    std::fs::write(settings(&place, ".claude", "settings.local.json"), "{").unwrap();
    let broken = place.run(&["init", "--yes"]);
    assert!(broken.code == 1 && broken.stderr.matches("try again").count() == 1, "{broken:?}");
}

#[test]
fn uninstall_names_the_other_place_and_purges_the_users_copies() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--user", "--yes"]).code, 0);
    let state = place.project().join(".context-graph");
    assert!(!state.exists(), "the folder one happens to be in has nothing to do with it");
    prompt(&place, "s", "hello");
    let run = place.run(&["uninstall", "--yes"]);
    assert!(run.code == 0 && run.stderr.contains("`context-graph uninstall --user`"), "{run:?}");
    let copies = place.project().with_file_name("home").join(".config/context-graph/install");
    assert!(copies.is_dir());
    let run = place.run(&["uninstall", "--user", "--purge", "--yes"]);
    assert!(run.code == 0 && run.stderr.is_empty(), "{run:?}");
    assert!(!copies.exists() && state.is_dir(), "the project's stays");
    assert!(copies.with_file_name("private").is_dir(), "and so does what it is sealed with");
}

#[test]
fn a_project_that_is_named_is_named_in_the_next_steps_and_must_be_there() {
    let place = Place::new();
    std::fs::create_dir(place.project().join("sub")).unwrap();
    let run = place.run(&["init", "sub", "--yes"]);
    assert!(run.stdout.contains("`context-graph doctor sub`"), "{run:?}");
    assert!(run.stdout.contains("`context-graph uninstall sub`"), "{run:?}");
    for verb in ["init", "uninstall", "doctor"] {
        let run = place.run(&[verb, "nowhere"]);
        assert!(run.code == 1 && run.stderr.contains("nowhere is not a folder"), "{verb}: {run:?}");
    }
}

#[test]
fn a_status_line_makes_nothing_in_a_project_that_has_nothing() {
    let place = Place::new();
    let said = json!({"session_id": "s", "workspace": {"project_dir": place.project()}});
    let run = place.send(&["statusline"], said.to_string());
    assert_eq!((run.code, run.stdout.as_str()), (0, "context-graph\n"));
    assert!(!place.project().join(".context-graph").exists());
}

#[test]
fn nobody_is_asked_about_removing_nothing() {
    let place = Place::new();
    prompt(&place, "s", "hello");
    for more in [&[][..], &["--dry-run"], &["--yes"]] {
        let run = place.run(&[&["session", "prune", "--older-than", "90d"][..], more].concat());
        assert_eq!((run.code, run.stdout.as_str()), (0, "no session is that old\n"), "{run:?}");
    }
    assert!(list(&place, &["session", "prune", "--older-than", "90d", "--json"]).is_empty());
}
