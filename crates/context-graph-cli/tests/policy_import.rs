//! `policy import`: folders as Cupcake's users have them, and what their rules decide after the import.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Place, Run};
use serde_json::{Value, json};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cupcake").join(name)
}

fn import(place: &Place, name: &str, more: &[&str]) -> Run {
    let folder = folder(name);
    let mut args = vec!["policy", "import", folder.to_str().unwrap()];
    args.extend(more);
    place.run(&args)
}

fn imported(name: &str, more: &[&str]) -> Place {
    let place = Place::new();
    // Both folders have rules that cannot be imported.
    let more: Vec<&str> = more.iter().copied().chain(["--partial"]).collect();
    let run = import(&place, name, &more);
    assert_eq!(run.code, 0, "{run:?}");
    place
}

fn send(place: &Place, event: &str, more: &Value) -> Value {
    let mut payload =
        json!({"hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    place.send(&["hooks", "event"], payload.to_string()).succeeded()
}

fn call(place: &Place, tool: &str, input: &Value) -> Value {
    send(place, "PreToolUse", &json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"}))
}

fn bash(place: &Place, command: &str) -> Value {
    call(place, "Bash", &json!({"command": command}))
}

fn verdict(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none")
}

fn rules(answer: &Value) -> Vec<&str> {
    answer["ruling"]["rules"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn imported_rules_decide_as_they_did() {
    let place = imported("by_agent", &[]);
    let denied = bash(&place, "git  push origin release/7");
    assert_eq!((verdict(&denied), rules(&denied)), ("deny", vec!["SHOP-GIT-1"]), "{denied}");
    assert!(denied["ruling"]["reason"].as_str().unwrap().contains("release/7 is pushed by the release desk"));
    let asked = bash(&place, "git merge topic");
    assert_eq!((verdict(&asked), rules(&asked)), ("ask", vec!["SHOP-GIT-2"]), "{asked}");
    let changed = bash(&place, "pip install requests");
    assert_eq!(
        changed["hookSpecificOutput"]["updatedInput"]["command"], "uv pip install requests",
        "{changed}"
    );
    assert_eq!(verdict(&bash(&place, "cargo test")), "none");

    let prompt = |text: &str| send(&place, "UserPromptSubmit", &json!({"prompt": text}));
    let helped = prompt("raise the price");
    assert!(
        helped["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("in cents"),
        "{helped}"
    );
    assert_eq!(prompt("4111111111111111")["decision"], "block");
}

#[test]
fn builtins_keep_their_policies_configuration_and_signals() {
    let place = imported("by_agent", &[]);
    let write =
        |file: &str| call(&place, "Write", &json!({"file_path": place.project().join(file), "content": "x"}));
    let kept = write("ledger/2024.csv");
    assert_eq!((verdict(&kept), rules(&kept)), ("deny", vec!["SHOP-KEPT"]), "{kept}");
    assert!(kept["stopReason"].as_str().unwrap().contains("The ledger's files are kept"), "{kept}");
    assert_eq!(rules(&bash(&place, "rm -r ledger")), ["SHOP-KEPT"]);
    assert_eq!(verdict(&write("src/shop.js")), "none", "the lock is off");
    let edited = |file: &str| {
        send(
            &place,
            "PostToolUse",
            &json!({"tool_name": "Write", "tool_input": {"file_path": file}, "tool_use_id": "t",
            "tool_response": {}}),
        )
    };
    let checked = edited("/x/menu.json");
    assert_eq!(checked["decision"], "block", "{checked}");
    assert!(checked["reason"].as_str().unwrap().contains("a comma too many"));
    assert_eq!(edited("/x/menu.toml").get("decision"), None);
}

#[test]
fn what_could_not_be_taken_over_is_told_file_by_file() {
    let place = Place::new();
    let run = import(&place, "by_agent", &["--json", "--dry-run", "--partial"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!place.project().join(".context-graph").exists(), "a dry run writes nothing");
    let report = run.json();
    let lost = report["not_enforced"].as_array().unwrap();
    assert_eq!(lost.len(), 3, "{lost:#?}");
    let left: Vec<(&str, &str)> = lost
        .iter()
        .chain(report["left"].as_array().unwrap())
        .map(|left| (left["what"].as_str().unwrap(), left["why"].as_str().unwrap()))
        .collect();
    for (what, why) in [
        ("policies/claude/unfinished.rego", "line 11"),
        ("policies/claude/asks_a_server.rego", "http.send"),
        ("policies/claude/system/evaluate.rego", "entry point"),
        ("policies/claude/git_test.rego", "policy test"),
        ("policies/claude/builtins/global_file_lock.rego", "not switched on"),
        ("policies/cursor/shell.rego", "another agent (cursor)"),
        ("actions", "nothing is run"),
        ("rulebook: actions", "nothing is run"),
        ("rulebook: signals.nameless", "no command"),
        ("rulebook: builtins.weather_check", "no guard here does the same"),
        ("rulebook: builtins.git_block_no_verify.message", "words of its own"),
        ("rulebook: telemetry", "recorded already"),
    ] {
        let found = left.iter().any(|(known, reason)| *known == what && reason.contains(why));
        assert!(found, "{what} ({why}) is not in {left:#?}");
    }
    assert_eq!(left.len(), 12, "{left:#?}");
    let policies: Vec<&str> =
        report["policies"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        policies,
        [
            "claude/builtins/post_edit_check.rego",
            "claude/builtins/protected_paths.rego",
            "claude/git.rego",
            "claude/packages.rego",
            "claude/welcome.rego",
            "helpers/text.rego",
        ]
    );
}

#[test]
fn what_was_imported_is_in_order() {
    for name in ["by_agent", "flat"] {
        let place = imported(name, &[]);
        let check = place.run(&["policy", "check"]);
        assert_eq!(check.code, 0, "{name}: {check:?}");
    }
}

#[test]
fn builtins_without_a_policy_become_guards() {
    let place = imported("flat", &["--no-builtin-guards"]);
    assert_eq!(rules(&bash(&place, "npm ci")), ["TIDY-1"]);
    let write =
        |file: &str| call(&place, "Write", &json!({"file_path": place.project().join(file), "content": "x"}));
    for kept in ["fonts/a.woff", "doc/licence.txt", "vault/key"] {
        assert_ne!(verdict(&write(kept)), "none", "{kept}");
    }
    let read = |file: &str| call(&place, "Read", &json!({"file_path": place.project().join(file)}));
    assert_ne!(verdict(&read("vault/key")), "none");
    assert_eq!(verdict(&read("fonts/a.woff")), "none");
    assert_ne!(
        verdict(&bash(&place, "git commit --no-verify -m x")),
        "none",
        "the guard stands for a builtin"
    );
    assert_ne!(verdict(&bash(&place, "cat ~/.ssh/id_rsa")), "none", "the guard stands for a builtin");
    assert_eq!(verdict(&bash(&place, "git push --force origin main")), "none", "our own guards are off");
    assert_eq!(verdict(&bash(&place, "sudo ls")), "none", "our own guards are off");
    let with_guards = imported("flat", &[]);
    assert_ne!(verdict(&bash(&with_guards, "git push --force origin main")), "none");
}

#[test]
fn nothing_is_overwritten_unasked() {
    let place = imported("by_agent", &[]);
    let again = import(&place, "by_agent", &["--partial"]);
    assert_eq!(again.code, 0, "the same again changes nothing: {again:?}");
    let config = place.project().join(".context-graph/policy.toml");
    let policy = place.project().join(".context-graph/policies/claude/git.rego");
    fs::write(&config, "read_only = [\"mine\"]\n").unwrap();
    fs::write(&policy, "package mine\n").unwrap();
    let refused = import(&place, "by_agent", &["--partial"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("git.rego") && refused.stderr.contains("--force"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&policy).unwrap(), "package mine\n");
    assert_eq!(import(&place, "by_agent", &["--partial", "--force"]).code, 0);
    assert!(fs::read_to_string(&policy).unwrap().contains("SHOP-GIT-1"));
    let kept = place.project().join(".context-graph/policy.toml.before-import");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "read_only = [\"mine\"]\n");
    fs::write(&config, "no_read = [\"mine\"]\n").unwrap();
    assert_eq!(import(&place, "by_agent", &["--partial", "--force"]).code, 0);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "read_only = [\"mine\"]\n", "the first one stays");
    assert_eq!(fs::read_to_string(format!("{}-2", kept.display())).unwrap(), "no_read = [\"mine\"]\n");
}

#[test]
fn a_folder_that_is_none_or_holds_nothing_is_an_error() {
    let place = Place::new();
    let none = place.run(&["policy", "import", "."]);
    assert!(none.code == 1 && none.stderr.contains("not a Cupcake folder"), "{none:?}");
    let empty = place.project().join(".cupcake");
    fs::create_dir_all(empty.join("policies")).unwrap();
    fs::write(empty.join("rulebook.yml"), "builtins: [\n").unwrap();
    let nothing = place.run(&["policy", "import", ".", "--json"]);
    assert_eq!(nothing.code, 1, "{nothing:?}");
    assert!(nothing.json()["not_enforced"][0]["why"].as_str().unwrap().contains("line"), "{nothing:?}");
    assert!(!place.project().join(".context-graph/policy.toml").exists());
}

#[test]
fn nothing_is_written_where_a_rule_would_not_be_enforced() {
    for name in ["by_agent", "flat"] {
        let place = Place::new();
        for more in [&[][..], &["--dry-run"], &["--force"]] {
            let refused = import(&place, name, more);
            assert_eq!(refused.code, 1, "{name} {more:?}: {refused:?}");
            assert!(refused.stdout.contains("not enforced:"), "{refused:?}");
            assert!(refused.stderr.contains("--partial"), "{refused:?}");
            assert!(!place.project().join(".context-graph").exists(), "{name} {more:?}");
        }
    }
}

#[test]
fn what_is_not_enforced_is_said_until_it_is() {
    let place = imported("by_agent", &[]);
    let missing = "policies/claude/asks_a_server.rego";
    let record = place.project().join(".context-graph/policies/not-enforced.json");
    let written: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    assert_eq!((&written["version"], written["not_enforced"].as_array().unwrap().len()), (&json!(1), 3));
    let says = |args: &[&str]| place.run(args).stdout;
    let listed = says(&["policy", "list"]);
    let row = listed.lines().find(|line| line.contains(missing)).unwrap();
    assert!(row.contains("not enforced") && row.contains("http.send"), "{row}");
    let objects: Value = serde_json::from_str(&says(&["policy", "list", "--json"])).unwrap();
    let verdicts = objects.as_array().unwrap().iter().filter(|rule| rule["verdict"] == "not enforced");
    assert_eq!(verdicts.count(), 3);
    assert!(says(&["doctor"]).contains(missing) && says(&["policy", "check"]).contains(missing));

    // If somebody writes the rule, that file counts.
    place.rego(
        "claude/asks_a_server.rego",
        "package cupcake.policies.shop.asks_a_server\ndeny contains \"no\" if input.never\n",
    );
    let is_said =
        |text: &str| text.lines().any(|line| line.contains(missing) && line.contains("not enforced"));
    assert!(!is_said(&says(&["policy", "list"])) && !is_said(&says(&["doctor"])));
    assert!(says(&["doctor"]).contains("weather_check"));

    // A corrected folder leaves nothing to report when it is imported again.
    let mended = place.project().join(".cupcake");
    fs::create_dir_all(mended.join("policies")).unwrap();
    let policy = fs::read_to_string(folder("flat").join(".cupcake/policies/tidy.rego")).unwrap();
    fs::write(mended.join("policies/tidy.rego"), &policy).unwrap();
    fs::write(mended.join("policies/broken.rego"), "package cupcake.policies.broken\ndeny contains 1 if {\n")
        .unwrap();
    assert_eq!(place.run(&["policy", "import", ".", "--partial"]).code, 0);
    assert!(says(&["doctor"]).contains("policies/broken.rego of .cupcake"));
    fs::remove_file(mended.join("policies/broken.rego")).unwrap();
    assert_eq!(place.run(&["policy", "import", "."]).code, 0);
    let said = says(&["doctor"]);
    assert!(
        !said.contains("broken.rego") && said.contains("weather_check"),
        "of the other folder it is still said: {said}"
    );
}

#[test]
fn a_record_that_cannot_be_used_is_a_problem() {
    let place = imported("by_agent", &[]);
    let record = place.project().join(".context-graph/policies/not-enforced.json");
    for (text, why) in [("{", "not a valid list"), (r#"{"version": 2, "not_enforced": []}"#, "newest known")]
    {
        fs::write(&record, text).unwrap();
        let check = place.run(&["policy", "check"]);
        assert!(check.code == 1 && check.stdout.contains(why), "{check:?}");
        assert!(place.run(&["policy", "list"]).stdout.contains("not-enforced.json"), "{text}");
        assert!(place.run(&["doctor"]).stdout.contains(why), "{text}");
    }
}

#[test]
fn a_policy_whose_helper_is_missing_or_broken_is_not_taken() {
    for helper in [
        None,
        Some("package cupcake.system.own\nbad if {\n"),
        Some("package cupcake.system.own\nother := 1\n"),
    ] {
        let place = Place::new();
        let folder = place.project().join(".cupcake");
        fs::create_dir_all(folder.join("policies/claude")).unwrap();
        fs::create_dir_all(folder.join("system")).unwrap();
        let policy = "package cupcake.policies.a\nimport rego.v1\nimport data.cupcake.system.own\ndeny contains \"a\" if own.bad\n";
        fs::write(folder.join("policies/claude/a.rego"), policy).unwrap();
        fs::write(
            folder.join("policies/claude/b.rego"),
            "package cupcake.policies.b\nimport rego.v1\nask contains \"b\"\n",
        )
        .unwrap();
        if let Some(helper) = helper {
            fs::write(folder.join("system/own.rego"), helper).unwrap();
        }
        let refused = place.run(&["policy", "import", "."]);
        assert!(
            refused.code == 1 && refused.stdout.contains("policies/claude/a.rego: "),
            "{helper:?}: {refused:?}"
        );
        // Copied by hand, the broken policy makes the hook ask about every call.
        place.rego("a.rego", policy);
        if let Some(helper) = helper {
            place.rego("system/own.rego", helper);
        }
        let asked = bash(&place, "ls");
        assert_eq!(verdict(&asked), "ask", "{helper:?}: {asked}");
    }
}

#[test]
fn what_only_looks_as_if_it_decided_nothing_is_not_passed_over() {
    let place = Place::new();
    let folder = place.project().join(".cupcake");
    fs::create_dir_all(folder.join("policies/claude")).unwrap();
    let policy =
        "package cupcake.policies.require_test\nimport rego.v1\nask contains \"Did the tests run?\"\n";
    fs::write(folder.join("policies/claude/require_test.rego"), policy).unwrap();
    for rulebook in
        ["builtins: [git_block_no_verify]\n", "signals: oven\n", "watchdog: true\n", "- builtins\n"]
    {
        fs::write(folder.join("rulebook.yml"), rulebook).unwrap();
        let refused = place.run(&["policy", "import", "."]);
        assert!(
            refused.code == 1 && refused.stdout.contains("not enforced:\n  rulebook"),
            "{rulebook}: {refused:?}"
        );
    }
    fs::remove_file(folder.join("rulebook.yml")).unwrap();
    assert_eq!(place.run(&["policy", "import", "."]).code, 0);
    assert_eq!(verdict(&bash(&place, "ls")), "ask", "a policy about tests is no test");
}

/// A Cupcake folder in the project with this rulebook and no policies.
fn with_rulebook(text: &str) -> Place {
    let place = Place::new();
    let folder = place.project().join(".cupcake");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rulebook.yml"), text).unwrap();
    place
}

#[test]
fn the_paths_that_the_rulebook_guards_are_kept_all_of_them() {
    for paths in ["[\".cupcake/\"]", "[\".cupcake/\", \"secrets/\"]", "null"] {
        for more in ["", "  git_block_no_verify:\n    enabled: true\n"] {
            let place = with_rulebook(&format!(
                "builtins:\n  rulebook_security_guardrails:\n    enabled: true\n    protected_paths: {paths}\n{more}"
            ));
            let run = place.run(&["policy", "import", "."]);
            assert_eq!(run.code, 0, "{run:?}");
            assert!(run.stdout.contains("no_read of .cupcake/**"), "{run:?}");
            let touched = |tool: &str, file: &str| {
                let input = json!({"file_path": place.project().join(file), "content": "x"});
                rules(&call(&place, tool, &input)).contains(&"protected-paths/no-read")
            };
            assert!(touched("Read", ".cupcake/rulebook.yml") && touched("Write", ".cupcake/rulebook.yml"));
            assert_eq!(touched("Read", "secrets/key"), paths.contains("secrets"), "{paths}");
            assert!(rules(&bash(&place, "rm -r .cupcake")).contains(&"protected-paths/no-read"));
        }
    }
}

#[test]
fn paths_that_cannot_be_read_are_not_passed_over() {
    let place =
        with_rulebook("builtins:\n  protected_paths:\n    paths: src/\n  git_block_no_verify: true\n");
    let run = place.run(&["policy", "import", "."]);
    assert!(
        run.code == 1 && run.stdout.contains("builtins.protected_paths.paths: it must be a list"),
        "{run:?}"
    );
}

#[test]
fn an_import_that_takes_nothing_says_why() {
    for (rulebook, stdout, stderr) in [
        ("builtins:\n  protected_paths:\n    paths: []\n", "it names no path", "the reasons are on stdout"),
        ("builtins:\n  protected_paths:\n    enabled: false\n", "", "its rulebook switches nothing on"),
    ] {
        let run = with_rulebook(rulebook).run(&["policy", "import", "."]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stdout.contains(stdout) && run.stderr.contains(stderr), "{run:?}");
    }
}

#[test]
fn a_message_that_no_guard_says_is_listed() {
    let place = with_rulebook(
        "builtins:\n  protected_paths:\n    message: Ask the desk\n    paths: [\"ledger/\"]\n    color: red\n",
    );
    let run = place.run(&["policy", "import", "."]);
    assert_eq!(run.code, 0, "{run:?}");
    for listed in ["builtins.protected_paths.message: ", "builtins.protected_paths.color: "] {
        assert!(run.stdout.contains(listed), "{run:?}");
    }
}

#[test]
fn a_template_that_no_event_reaches_is_left_and_the_rest_is_in_order() {
    let place = with_rulebook("");
    let policies = place.project().join(".cupcake/policies/claude");
    fs::create_dir_all(&policies).unwrap();
    let policy = |event: &str, package: &str| {
        format!(
            "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"{event}\"]\n\
             package cupcake.policies.{package}\nimport rego.v1\n\
             deny contains {{\"rule_id\": \"{package}\", \"reason\": \"no\", \"severity\": \"LOW\"}}\n"
        )
    };
    fs::write(policies.join("example.rego"), policy("NeverFires", "example")).unwrap();
    fs::write(policies.join("real.rego"), policy("PreToolUse", "real")).unwrap();
    let run = place.run(&["policy", "import", "."]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("policies/claude/example.rego: no event is called `NeverFires`"), "{run:?}");
    let check = place.run(&["policy", "check"]);
    assert_eq!(check.code, 0, "{check:?}");
    assert_eq!(rules(&bash(&place, "ls")), ["real"]);
}
