//! From a refusal to an exception, with the command that the refusal names.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

fn ask(place: &Place, id: &str, tool: &str, input: Value) -> Value {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": place.project(),
        "tool_name": tool, "tool_input": input, "tool_use_id": id});
    let answer = place.send(&["hooks", "event"], event.to_string()).succeeded();
    let mut decided = answer["hookSpecificOutput"].clone();
    if let Some(told) = answer.get("systemMessage") {
        decided["told"] = told.clone();
    }
    decided
}

fn policy(place: &Place) -> String {
    std::fs::read_to_string(place.project().join(".context-graph/policy.toml")).unwrap_or_default()
}

/// The command that a refusal names, without the program's name.
fn named(refusal: &Value) -> Vec<String> {
    let told = refusal["told"].as_str().unwrap();
    let command = told.split_once("context-graph policy allow ").unwrap_or_else(|| panic!("{told}")).1;
    let reason = refusal["permissionDecisionReason"].as_str().unwrap();
    assert!(
        !reason.contains("policy allow") && !told.contains(reason),
        "the model is not told, and the user once"
    );
    ["policy", "allow"].into_iter().chain(command.split_whitespace()).map(str::to_owned).collect()
}

#[test]
fn the_command_that_a_refusal_names_allows_exactly_what_was_refused() {
    let place = Place::new();
    let refused = ask(&place, "t1", "Bash", json!({"command": "rm -rf .git"}));
    assert_eq!(refused["permissionDecision"], "deny");
    let command = named(&refused);
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let unasked = place.run(&words);
    assert!(
        unasked.code == 1 && unasked.stderr.contains("--yes") && policy(&place).is_empty(),
        "{unasked:?}"
    );
    let mut terminal = place.on_terminal(&words, 120);
    terminal.expect("command = \"rm -rf .git\"").expect("Write this?").press("y\n");
    assert_eq!(terminal.end().code, 0);
    assert!(policy(&place).contains("rule = \"destructive-files/git-folder\""), "{}", policy(&place));
    // It counts at once, because files that we write are trusted.
    assert_ne!(ask(&place, "t2", "Bash", json!({"command": "rm -rf .git"}))["permissionDecision"], "deny");
    // The exception covers what the command does in any spelling, and nothing else.
    assert_ne!(ask(&place, "t3", "Bash", json!({"command": "rm -fr ./.git/"}))["permissionDecision"], "deny");
    for other in ["rm -rf .git sub/.git", "rm -rf sub/.git", "cd sub && rm -rf .git"] {
        assert_eq!(
            ask(&place, "t4", "Bash", json!({"command": other}))["permissionDecision"],
            "deny",
            "{other}"
        );
    }
}

#[test]
fn a_command_of_ours_is_for_the_user_to_type_and_no_exception_is_offered() {
    let place = Place::new();
    let command = "context-graph policy allow destructive-git/force-push --yes";
    let refused = ask(&place, "t1", "Bash", json!({"command": command}));
    assert_eq!(refused["permissionDecision"], "deny");
    let told = refused["told"].as_str().unwrap();
    assert!(told.contains("type the command in a terminal yourself"), "{told}");
    assert!(!told.contains("policy allow"), "{told}");
    for args in [&["policy", "explain", "--command", command][..], &["audit", "show", "t1"]] {
        let run = place.run(args);
        assert!(run.stdout.contains("type the command in a terminal yourself"), "{args:?}: {run:?}");
        assert!(!run.stdout.contains("to allow it"), "{args:?}: {run:?}");
    }
}

#[test]
fn what_is_allowed_already_is_not_offered_again() {
    let place = Place::new();
    ask(&place, "t1", "Bash", json!({"command": "git push --force origin main"}));
    let rule = "destructive-git/force-push";
    let tried = place.run(&["policy", "allow", rule, "--dry-run"]);
    assert!(tried.code == 0 && tried.stdout.contains("however it is spelt"), "{tried:?}");
    assert!(tried.stdout.contains("nothing was changed") && policy(&place).is_empty(), "{tried:?}");
    assert_eq!(place.run(&["policy", "allow", rule, "--yes"]).code, 0);
    let before = policy(&place);
    for again in
        [&["policy", "allow", rule][..], &["policy", "allow", rule, "--command", "git push -f origin main"]]
    {
        let run = place.run(again);
        assert!(
            run.code == 0 && run.stdout.contains("is already allowed") && !run.stdout.contains("[["),
            "{run:?}"
        );
    }
    let json = place.run(&["policy", "allow", rule, "--json"]);
    assert_eq!(json.json()["added"], "");
    assert_eq!(policy(&place), before);
    let other = place.run(&["policy", "allow", rule, "--command", "git push -f origin release", "--yes"]);
    assert!(other.code == 0 && policy(&place).contains("origin release"), "{other:?}");
}

#[test]
fn a_path_a_named_call_and_the_users_own_file_are_taken() {
    let place = Place::new();
    place.foreign_file("policy.toml", "# mine\nread_only = [\"a.txt\"]");
    place.trust();
    let write = || json!({"file_path": place.project().join("a.txt"), "content": "x"});
    assert_eq!(ask(&place, "t1", "Write", write())["permissionDecision"], "deny");
    let run = place.run(&[
        "policy",
        "allow",
        "protected-paths/read-only",
        "--call",
        "t1",
        "--yes",
        "--reason",
        "it's \"fine\"",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        policy(&place).starts_with("# mine\nread_only = [\"a.txt\"]\n\n[[exceptions]]\n"),
        "{}",
        policy(&place)
    );
    assert_eq!(ask(&place, "t2", "Write", write()), Value::Null);
    let run = place.run(&[
        "policy",
        "allow",
        "secrets/read-key",
        "--path",
        "fixtures/**",
        "--user",
        "--yes",
        "--json",
    ]);
    let own = place.home().join(".config/context-graph/policy.toml");
    assert!(run.json()["file"].as_str().unwrap().ends_with(".config/context-graph/policy.toml"), "{run:?}");
    assert!(std::fs::read_to_string(own).unwrap().contains("path = \"fixtures/**\""));
    assert_eq!(place.run(&["policy", "check"]).code, 0);
}

#[test]
fn what_cannot_be_allowed_so_is_said_and_nothing_is_written() {
    let place = Place::new();
    let fails = |args: &[&str], why: &str| {
        let run = place.run(&[&["policy", "allow", "--yes"], args].concat());
        assert!(run.code == 1 && run.stderr.contains(why), "{why}: {run:?}");
    };
    fails(&["force-push"], "perhaps `destructive-git/force-push`?");
    fails(&["destructive-git/forcepush"], "perhaps `destructive-git/force-push`?");
    fails(&["destructive-gti"], "perhaps `destructive-git`?");
    fails(&["MY-REGO"], "policy list");
    fails(&["destructive-git/force-push"], "no call on record");
    ask(&place, "t1", "Bash", json!({"command": "rm -rf ~ --password=hunter2hunter2"}));
    fails(&["destructive-files"], "whole text");
    place.foreign_file("policy.toml", "exceptions = []\n");
    fails(&["secrets", "--path", "x"], "by hand");
    let mut agent = place.command(&["policy", "allow", "secrets", "--path", "x", "--yes"]);
    agent.env("CLAUDECODE", "1");
    let run = common::send(agent, b"");
    assert!(run.code == 1 && run.stderr.contains("terminal of your own"), "{run:?}");
    let refused =
        ask(&place, "t2", "Bash", json!({"command": "context-graph policy allow secrets --path x --yes"}));
    assert_eq!(refused["permissionDecision"], "deny");
    assert_eq!(policy(&place), "exceptions = []\n");
}
