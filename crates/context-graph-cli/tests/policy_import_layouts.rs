//! A Cupcake project in each of its layouts: after the import, every call is decided as before.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, Run, send};
use serde_json::{Value, json};

fn bakery() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cupcake/bakery")
}

/// Runs the binary with enough time for policies in a debug build.
fn run(place: &Place, args: &[&str], stdin: &str) -> Run {
    let mut command = place.command(args);
    command.env("CONTEXT_GRAPH_TEST_PATIENCE", "1");
    send(command, stdin.as_bytes())
}

fn import(place: &Place, folder: &Path) -> Run {
    run(place, &["policy", "import", folder.to_str().unwrap(), "--no-builtin-guards"], "")
}

/// Writes the files of the example project `bakery` in another layout.
fn laid_out(place: &Place, layout: impl Fn(&str, String) -> Option<(String, String)>) {
    let root = bakery().join(".cupcake");
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let Some((to, text)) = layout(&name, fs::read_to_string(&path).unwrap()) else { continue };
            let to = place.project().join(".cupcake").join(to);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, text).unwrap();
        }
    }
}

/// The shared modules under the names of older layouts, which had no `system`.
fn with_helpers(text: String) -> String {
    text.replace("cupcake.system.commands", "cupcake.helpers.commands")
        .replace("cupcake.system.places", "cupcake.helpers.places")
        .replace("import data.cupcake.system.paths\n", "")
}

/// Runs the bakery's cases, except those for these rules.
fn decides_as_before(place: &Place, without: &[&str]) {
    let cases = fs::read_to_string(bakery().join("cases.jsonl")).unwrap();
    let kept: Vec<&str> =
        cases.lines().filter(|line| !without.iter().any(|rule| line.contains(rule))).collect();
    let file = place.project().join("cases.jsonl");
    fs::write(&file, kept.join("\n")).unwrap();
    let tested = run(place, &["policy", "test", "cases.jsonl"], "");
    assert_eq!(tested.code, 0, "{}{}", tested.stdout, tested.stderr);
}

#[test]
fn every_call_of_the_project_is_decided_by_the_hook_as_it_was() {
    let place = Place::new();
    let imported = import(&place, &bakery());
    assert_eq!(imported.code, 0, "{imported:?}");
    let cases = fs::read_to_string(bakery().join("cases.jsonl")).unwrap();
    let (mut number, mut wrong) = (0, Vec::new());
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let case: Value = serde_json::from_str(line).unwrap();
        let (tool, input) = match case.get("command") {
            Some(command) => (json!("Bash"), json!({"command": command})),
            None => (case["tool"].clone(), case["input"].clone()),
        };
        let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t",
            "cwd": place.project(), "tool_name": tool, "tool_input": input, "tool_use_id": "t"});
        let answer = run(&place, &["hooks", "event"], &event.to_string()).succeeded();
        let expected = match case["expect"].as_str().unwrap() {
            "halt" => "deny",
            other => other,
        };
        let decided = answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none");
        let rules = answer["ruling"]["rules"].as_array().cloned().unwrap_or_default();
        let is_halted = answer["continue"] == json!(false);
        if decided != expected
            || is_halted != (case["expect"] == "halt")
            || case.get("rule").is_some_and(|rule| !rules.contains(rule))
        {
            wrong.push(format!("{line}: {decided} by {rules:?}"));
        }
        number += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(number >= 60, "{number} cases");
}

#[test]
fn what_the_folder_brings_is_taken_as_it_is() {
    let place = Place::new();
    let imported = import(&place, &bakery());
    assert_eq!(imported.code, 0, "{imported:?}");
    let ours = place.project().join(".context-graph/policies");
    for file in ["system/commands.rego", "system/places.rego", "system/evaluate.rego"] {
        let theirs = fs::read_to_string(bakery().join(".cupcake").join(file)).unwrap();
        assert_eq!(fs::read_to_string(ours.join(file)).unwrap(), theirs, "{file}");
    }
    for file in ["cursor", "codex", "global_builtins/cursor", "claude/builtins/global_file_lock.rego"] {
        assert!(!ours.join(file).exists(), "{file}");
    }
    assert!(
        imported.stdout.contains("global_builtins/cursor/system_protection.rego: a policy for another agent")
    );
    let check = run(&place, &["policy", "check"], "");
    assert_eq!(check.code, 0, "{check:?}");
    decides_as_before(&place, &[]);
}

#[test]
fn the_functions_of_the_system_folder_are_there_without_it() {
    let place = Place::new();
    laid_out(&place, |name, text| {
        let is_gone = name.starts_with("system/")
            || ["orders.rego", "protected_paths.rego"].iter().any(|end| name.ends_with(end));
        let text =
            text.replace("  protected_paths:\n    enabled: true", "  protected_paths:\n    enabled: false");
        (!is_gone).then(|| (name.to_owned(), text))
    });
    let imported = import(&place, Path::new("."));
    assert_eq!(imported.code, 0, "{imported:?}");
    decides_as_before(&place, &["BAKERY-ORDER", "BAKERY-KEPT"]);
    let check = run(&place, &["policy", "check"], "");
    assert_eq!(check.code, 0, "{check:?}");
}

#[test]
fn helpers_beside_the_policies_of_an_agent_are_taken() {
    let place = Place::new();
    laid_out(&place, |name, text| {
        let to = match name {
            "system/evaluate.rego" => "policies/claude/system/evaluate.rego".to_owned(),
            _ => name
                .replace("system/", "helpers/")
                .replace("global_builtins/claude", "policies/claude/builtins"),
        };
        Some((to, with_helpers(text)))
    });
    let imported = import(&place, Path::new(".cupcake"));
    assert_eq!(imported.code, 0, "{imported:?}");
    decides_as_before(&place, &[]);
}

#[test]
fn a_folder_from_before_there_were_agents_is_taken() {
    let place = Place::new();
    laid_out(&place, |name, text| {
        let is_other = name.contains("cursor") || name.contains("codex");
        let to = match name {
            "rulebook.yml" => "guidebook.yml".to_owned(),
            "system/evaluate.rego" => "policies/system/evaluate.rego".to_owned(),
            _ => name
                .replace("policies/claude", "policies")
                .replace("global_builtins/claude", "policies/builtins")
                .replace("system/", "policies/helpers/"),
        };
        (!is_other).then(|| (to, with_helpers(text)))
    });
    let imported = import(&place, Path::new("."));
    assert_eq!(imported.code, 0, "{imported:?}");
    decides_as_before(&place, &[]);
}

#[test]
fn a_builtin_that_is_told_its_configuration_by_signals_is_told() {
    let place = Place::new();
    let folder = place.project().join(".cupcake");
    let policy = "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n\
        #     required_tools: [\"Write\"]\npackage cupcake.policies.builtins.protected_paths\n\nimport rego.v1\n\n\
        halt contains {\"rule_id\": \"OLD\", \"reason\": input.signals.__builtin_protected_paths_message} if {\n\
        \tsome path in input.signals.__builtin_protected_paths_list\n\tcontains(input.resolved_file_path, path)\n}\n";
    fs::create_dir_all(folder.join("policies/builtins")).unwrap();
    fs::write(folder.join("policies/builtins/protected_paths.rego"), policy).unwrap();
    fs::write(folder.join("guidebook.yml"), "builtins: {protected_paths: {paths: [\"baker's/\"]}}\n")
        .unwrap();
    assert_eq!(import(&place, Path::new(".")).code, 0);
    let case = json!({"tool": "Write", "input": {"file_path": "baker's/rye", "content": ""}, "expect": "halt", "rule": "OLD"});
    fs::write(place.project().join("cases.jsonl"), case.to_string()).unwrap();
    let tested = run(&place, &["policy", "test", "cases.jsonl"], "");
    assert_eq!(tested.code, 0, "{tested:?}");
}

#[test]
fn two_modules_for_one_place_are_refused() {
    let place = Place::new();
    laid_out(&place, |name, text| Some((name.to_owned(), text)));
    let other = place.project().join(".cupcake/policies/system");
    fs::create_dir_all(&other).unwrap();
    fs::write(
        other.join("commands.rego"),
        "package cupcake.system.commands\nimport rego.v1\nhas_verb(_, _) := false\n",
    )
    .unwrap();
    let refused = import(&place, Path::new("."));
    assert!(
        refused.code == 1 && refused.stdout.contains("system/commands.rego: the folder has two"),
        "{refused:?}"
    );
    assert!(!place.project().join(".context-graph").exists());
}
