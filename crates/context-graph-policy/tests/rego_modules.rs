//! Modules that policies share: those of the folder, the built-in one, and those that are missing or broken.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use context_graph_policy::rego::{Additions, Evaluation, Input, Limits, PolicyFile, PolicySet};
use context_graph_policy::{Context, ListedFileSystem, Verdict};
use serde_json::json;

const LIMITS: Limits = Limits { time: Duration::from_secs(20) };
const USER: &str = "package p.user\nimport rego.v1\nimport data.p.shared\ndeny contains \"no\" if shared.bad";

fn set(files: &[(&str, &str)]) -> PolicySet {
    let file = |(path, text): &(&str, &str)| PolicyFile { path: (*path).into(), text: (*text).into() };
    PolicySet::new(files.iter().map(file).collect(), Vec::new())
}

fn ask(set: &PolicySet, command: &str) -> Evaluation {
    let fs = ListedFileSystem::default();
    let ctx = Context { home: "/home/dev", project: "/proj", cwd: "/proj", fs: &fs };
    let event =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}});
    let input = Input::new(event.as_object().unwrap(), Additions::default(), &ctx);
    set.evaluate("PreToolUse", Some("Bash"), &input, LIMITS)
}

/// Whether a condition on `commands` and `c`, the command, holds.
fn holds(condition: &str, command: &str) -> bool {
    let text = format!(
        "package p\nimport rego.v1\nimport data.cupcake.system.commands\nc := input.tool_input.command\n\
        deny contains \"w\" if {condition}"
    );
    let outcome = ask(&set(&[("p.rego", &text)]), command);
    assert_eq!(outcome.errors, [], "{condition} of {command}");
    outcome.decision.verdict() == &Verdict::Deny
}

#[test]
fn a_policy_sees_the_modules_it_imports() {
    let shared = "package p.shared\nimport rego.v1\nimport data.p.deep as d\nbad if d.worse";
    let deep = "package p.deep\nimport rego.v1\nworse if contains(input.tool_input.command, \"x\")";
    let set = set(&[("user.rego", USER), ("system/shared.rego", shared), ("system/deep.rego", deep)]);
    assert_eq!(ask(&set, "x").decision.verdict(), &Verdict::Deny);
    let outcome = ask(&set, "y");
    assert_eq!((outcome.decision.verdict(), outcome.errors.len()), (&Verdict::None, 0));
}

#[test]
fn a_module_that_is_missing_or_broken_is_an_error_of_who_imports_it() {
    for shared in [
        None,
        Some("package p.other\nimport rego.v1\nbad := true"),
        Some("package p.shared\nimport rego.v1\nbad if {"),
        Some("package p.shared\nimport rego.v1\nimport data.p.gone\nbad if gone.worse"),
        Some("package p.shared\nimport rego.v1\nbad if gone(1)"),
    ] {
        let mut files = vec![("user.rego", USER), ("alone.rego", "package alone\nask contains \"w\"")];
        files.extend(shared.map(|text| ("shared.rego", text)));
        let outcome = ask(&set(&files), "x");
        assert_eq!(outcome.errors.len(), 1, "{shared:?}: {:?}", outcome.errors);
        assert_eq!(outcome.decision.verdict(), &Verdict::Ask, "the others go on: {shared:?}");
    }
}

#[test]
fn an_import_that_nothing_uses_does_no_harm() {
    let text =
        "package p\nimport rego.v1\nimport data.cupcake.system.paths\n# paths.x\ndeny contains \"paths.x\"";
    let outcome = ask(&set(&[("p.rego", text)]), "x");
    assert_eq!((outcome.decision.verdict(), outcome.errors.len()), (&Verdict::Deny, 0));
}

#[test]
fn a_name_that_no_module_defines_is_an_error() {
    let shared = "package p.shared\nimport rego.v1\nbad if true\ntable := {\"a\": {\"b\": 1}}";
    for (condition, name) in [
        ("shared.worse", "data.p.shared.worse"),
        ("data.p.gone.x", "data.p.gone.x"),
        ("not shared.worse", "data.p.shared.worse"),
        ("count(shared.worse) == 0", "data.p.shared.worse"),
        ("shared.bad # shared.worse data.gone", ""),
        ("contains(\"shared.worse\", \"data.gone\") == false", ""),
        ("shared.table.a.b == 1", ""),
        ("data.p[_].bad", ""),
        ("data[\"p\"].shared.bad", ""),
    ] {
        let user = USER.replace("shared.bad", condition);
        let outcome = ask(&set(&[("user.rego", &user), ("shared.rego", shared)]), "x");
        let errors: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), usize::from(!name.is_empty()), "{condition}: {errors:?}");
        assert!(
            errors.iter().all(|error| error.contains(name) && error.starts_with("user.rego:4")),
            "{errors:?}"
        );
        let is_decided = outcome.decision.verdict() == &Verdict::Deny;
        assert_eq!(is_decided, name.is_empty(), "{condition}");
    }
}

#[test]
fn the_entry_point_around_a_module_does_not_bring_every_policy_along() {
    let entry = "package cupcake.system\nimport rego.v1\nevaluate := {\"denials\": [d | some d in data.cupcake.policies[_].deny]}";
    let user = "package cupcake.policies.a\nimport rego.v1\nimport data.cupcake.system.commands\n\
        deny contains \"w\" if commands.has_verb(input.tool_input.command, \"rm\")";
    let broken = "# METADATA\n# custom:\n#   routing: {required_events: [Stop]}\npackage cupcake.policies.b\ndeny if {";
    let set = set(&[("system/evaluate.rego", entry), ("a.rego", user), ("b.rego", broken)]);
    let outcome = ask(&set, "rm x");
    assert_eq!(
        (outcome.decision.verdict(), outcome.errors.len()),
        (&Verdict::Deny, 0),
        "{:?}",
        outcome.errors
    );
}

#[test]
fn the_folders_own_module_goes_before_ours() {
    let own = "package cupcake.system.commands\nimport rego.v1\nhas_verb(_, verb) if verb == \"any\"";
    let user = "package p\nimport rego.v1\nimport data.cupcake.system.commands\ndeny contains \"w\" if commands.has_verb(\"\", \"any\")";
    let outcome = ask(&set(&[("system/commands.rego", own), ("p.rego", user)]), "x");
    assert_eq!((outcome.decision.verdict(), outcome.errors.len()), (&Verdict::Deny, 0));
}

#[test]
fn verbs_are_words() {
    for (command, expected) in [
        ("rm x", true),
        ("  rm\t-rf x", true),
        ("cd a && rm x", true),
        ("sudo rm", true),
        ("farm x", false),
        ("rmdir x", false),
        ("git-rm x", false),
        ("", false),
    ] {
        assert_eq!(holds(r#"commands.has_verb(c, "rm")"#, command), expected, "{command}");
        assert_eq!(holds(r#"commands.has_dangerous_verb(c, {"mv", "rm"})"#, command), expected, "{command}");
    }
    assert!(!holds("commands.has_dangerous_verb(c, set())", "rm x"));
}

#[test]
fn links_are_seen_with_both_their_ends() {
    for (command, expected) in [
        ("ln -s .cupcake here", true),
        ("ln -sf a .cupcake", true),
        ("ln -f -s a .cupcake", true),
        ("ln -fs a .cupcake", true),
        ("ln --symbolic .cupcake/policies b", true),
        ("ln .cupcake b", false),
        ("ls -s .cupcake", false),
    ] {
        assert_eq!(holds("commands.creates_symlink(c)", command), expected, "{command}");
        assert_eq!(holds(r#"commands.symlink_involves_path(c, ".cupcake")"#, command), expected, "{command}");
    }
    assert!(!holds(r#"commands.symlink_involves_path(c, ".cupcake")"#, "ln -s a b"));
}

#[test]
fn output_that_goes_elsewhere_is_seen() {
    for command in [
        "echo a > f",
        "echo a >> f",
        "echo a >f",
        "echo a>f",
        "cat a | sh",
        "cat a |sh",
        "cat a| sh",
        "tee f < a",
        "cat a|tee f",
        "cmd 2> f",
        "cmd &> f",
    ] {
        assert!(holds("commands.has_output_redirect(c)", command), "{command}");
    }
    for command in
        ["cat a", "cat a 2>/dev/null", "cmd 2>&1", "a || b", "grep -- '->' a", "guarantee f", "cat < a"]
    {
        assert!(!holds("commands.has_output_redirect(c)", command), "{command}");
    }
}

#[test]
fn the_input_of_a_tool_is_found_under_its_old_name() {
    let text =
        "package p\nimport rego.v1\ndeny contains \"w\" if input.params.command == input.tool_input.command";
    assert_eq!(ask(&set(&[("p.rego", text)]), "x").decision.verdict(), &Verdict::Deny);
    let text = "package p\nimport rego.v1\ndeny contains \"w\" if \"params\" in object.keys(input)";
    assert_eq!(ask(&set(&[("p.rego", text)]), "x").decision.verdict(), &Verdict::None, "nobody reads it");
}

/// Heads of rules with a computed key, which the engine cannot name.
const COMPUTED_KEYS: [&str; 4] = ["m[[1, 2]] := 1", "m[{\"a\": 1}] := 1", "m[1 + 1] := 1", "m[1.0] := 1"];

#[test]
fn a_computed_key_in_a_head_keeps_the_decisions_of_its_package() {
    for head in COMPUTED_KEYS {
        let text = format!("package p\nimport rego.v1\n{head}\ndeny contains \"no\" if true");
        let more = "package p\nimport rego.v1\nask contains \"well?\" if false";
        let outcome = ask(&set(&[("p.rego", &text), ("q.rego", more)]), "x");
        assert_eq!((outcome.decision.verdict(), outcome.errors), (&Verdict::Deny, Vec::new()), "{head}");
    }
}

#[test]
fn a_computed_key_in_a_helper_does_not_hide_what_it_lacks() {
    for head in COMPUTED_KEYS {
        let shared = format!("package p.shared\nimport rego.v1\n{head}");
        let outcome = ask(&set(&[("user.rego", USER), ("shared.rego", &shared)]), "x");
        assert_eq!(outcome.errors.len(), 1, "{head}: {:?}", outcome.errors);
    }
}

#[test]
fn an_import_with_brackets_is_checked_like_one_with_dots() {
    let user = "package p\nimport rego.v1\nimport data.q[\"t\"]\ndeny contains \"no\" if t.bad";
    let complete = "package q.t\nimport rego.v1\nbad := true";
    let outcome = ask(&set(&[("p.rego", user), ("q.rego", complete)]), "x");
    assert_eq!((outcome.decision.verdict(), outcome.errors), (&Verdict::Deny, Vec::new()));
    let lacking = "package q.t\nimport rego.v1\ngood := true";
    assert_eq!(ask(&set(&[("p.rego", user), ("q.rego", lacking)]), "x").errors.len(), 1);
}

#[test]
fn a_function_that_calls_itself_is_found_wherever_it_stands() {
    for rules in ["f(x) := f(x)", "a := 1 f(x) := f(x)", "a := 1e5 f(x) := g(x) g(x) := f(x)"] {
        let text = format!("package p\nimport rego.v1\n{rules}\ndeny contains \"no\" if f(1)");
        let outcome = ask(&set(&[("p.rego", &text), ("q.rego", "package q\ndeny contains \"w\"")]), "x");
        assert_eq!(outcome.errors.len(), 1, "{rules}: {:?}", outcome.errors);
        assert_eq!(outcome.decision.verdict(), &Verdict::Deny, "{rules}");
    }
}
