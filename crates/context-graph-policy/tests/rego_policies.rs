//! Policies in the style of Cupcake: every verb and every kind of routing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use context_graph_events::Verb;
use context_graph_policy::rego::{
    Additions, Evaluation, Input, Limits, PolicyFile, PolicySet, RegoErrorKind, read_folder,
};
use context_graph_policy::{Context, ListedFileSystem, Severity, Verdict};
use serde_json::{Value, json};

const LIMITS: Limits = Limits { time: Duration::from_secs(20) };

fn published() -> PolicySet {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rego_policies");
    let (files, errors) = read_folder(&folder, |path, _| std::fs::read(path));
    assert_eq!((files.len(), errors.len()), (16, 0));
    PolicySet::new(files, errors)
}

fn one(text: &str) -> PolicySet {
    PolicySet::new(vec![PolicyFile { path: "dir/one.rego".into(), text: text.into() }], Vec::new())
}

fn ask_with(set: &PolicySet, event: Value, additions: Additions) -> Evaluation {
    let fs = ListedFileSystem::default();
    let ctx = Context { home: "/home/dev", project: "/proj", cwd: "/proj", fs: &fs };
    let event = event.as_object().unwrap();
    let input = Input::new(event, additions, &ctx);
    let name = event["hook_event_name"].as_str().unwrap();
    let tool = event.get("tool_name").and_then(Value::as_str);
    set.evaluate(name, tool, &input, LIMITS)
}

fn ask(set: &PolicySet, event: Value) -> Evaluation {
    ask_with(set, event, Additions::default())
}

fn bash(command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/proj", "tool_name": "Bash",
        "tool_input": {"command": command}})
}

fn rules(outcome: &Evaluation) -> Vec<&str> {
    assert_eq!(outcome.errors, []);
    outcome.decision.findings().map(|finding| finding.rule.as_str()).collect()
}

#[test]
fn deny_and_ask_are_collected_with_their_rules() {
    let outcome = ask(&published(), bash("git  push \t --force origin main"));
    assert_eq!(outcome.decision.verdict(), &Verdict::Deny);
    assert_eq!(rules(&outcome), ["GIT-002", "GIT-003"]);
    assert_eq!(outcome.decision.severity(), Some(Severity::Critical));
    assert_eq!(
        outcome.decision.reason(),
        "Forced push to main [GIT-002]\nPushing to a remote repository [GIT-003]"
    );
}

#[test]
fn an_ordinary_command_is_let_be() {
    let outcome = ask(&published(), bash("cargo test --workspace"));
    assert_eq!(outcome.decision.verdict(), &Verdict::None);
    assert!(rules(&outcome).is_empty());
}

#[test]
fn halt_uses_configuration_and_helpers() {
    let additions = Additions {
        builtin_config:
            json!({"protected_paths": {"paths": ["src/legacy/", "*.lock"], "message": "Leave it"}})
                .as_object()
                .cloned()
                .unwrap(),
        ..Additions::default()
    };
    let write = |path: &str| {
        json!({"hook_event_name": "PreToolUse", "cwd": "/proj", "tool_name": "Write",
            "tool_input": {"file_path": path, "content": "x"}})
    };
    let set = published();
    let outcome = ask_with(&set, write("src/other/../legacy/a.rs"), additions.clone());
    assert_eq!(outcome.decision.verdict(), &Verdict::Halt);
    assert_eq!(outcome.decision.reason(), "Leave it (/proj/src/legacy/a.rs) [PROTECTED-FILES]");
    assert_eq!(rules(&ask_with(&set, write("Cargo.lock"), additions.clone())), ["PROTECTED-FILES"]);
    assert!(rules(&ask_with(&set, write("src/main.rs"), additions.clone())).is_empty());
    let multi = json!({"hook_event_name": "PreToolUse", "cwd": "/proj", "tool_name": "MultiEdit",
        "tool_input": {"edits": [{"file_path": "a.rs"}, {"file_path": "src/legacy/b.rs"}]}});
    assert_eq!(rules(&ask_with(&set, multi, additions.clone())), ["PROTECTED-FILES"]);
    let mut above = additions.clone();
    above.builtin_config =
        json!({"protected_paths": {"paths": ["/home/dev/keep/"]}}).as_object().cloned().unwrap();
    above.affected_directories = vec!["/home/dev/".into()];
    assert_eq!(
        rules(&ask_with(&set, bash("rm -rf /home/dev/*"), above)),
        ["PROTECTED-FILES-PARENT", "DESTRUCTIVE-001"]
    );
}

#[test]
fn modify_gives_back_the_whole_input() {
    let mut event = bash("npm  install left-pad");
    event["tool_input"]["timeout"] = json!(7);
    let outcome = ask(&published(), event);
    let changed = json!({"command": "pnpm install left-pad", "timeout": 7});
    assert_eq!(outcome.decision.verdict(), &Verdict::Modify(changed.as_object().cloned().unwrap()));
    assert_eq!(rules(&outcome), ["PKG-001"]);
}

#[test]
fn what_a_change_only_copies_is_not_changed() {
    let set = one(
        "package p\nmodify contains {\"updated_input\": object.union(input.tool_input, {\"timeout\": 9})}",
    );
    let outcome = ask(&set, bash("echo a\nls   -l"));
    let changed = json!({"command": "echo a\nls   -l", "timeout": 9});
    assert_eq!(outcome.decision.verdict(), &Verdict::Modify(changed.as_object().cloned().unwrap()));
}

#[test]
fn after_a_call_the_result_is_what_is_changed() {
    let mut event = bash("ls");
    event["hook_event_name"] = json!("PostToolUse");
    event["tool_response"] = json!({"stdout": "a secret", "stderr": "", "interrupted": false});
    let set = one("package p\nmodify contains {\"updated_input\": {\"stdout\": \"hidden\"}}");
    let changed = json!({"stdout": "hidden", "stderr": "", "interrupted": false});
    let outcome = ask(&set, event);
    assert_eq!(outcome.decision.verdict(), &Verdict::Modify(changed.as_object().cloned().unwrap()));
}

#[test]
fn changes_merge_by_priority_and_equals_that_disagree_ask() {
    let change = |priority: u8, command: &str| {
        format!(
            "modify contains {{\"rule_id\": \"R{priority}{command}\", \"reason\": \"r\", \"priority\": {priority}, \
            \"updated_input\": {{\"command\": \"{command}\", \"k{priority}\": 1}}}}\n"
        )
    };
    let outcome = ask(&one(&format!("package p\n{}{}", change(10, "a"), change(90, "b"))), bash("c"));
    let changed = json!({"command": "b", "k10": 1, "k90": 1});
    assert_eq!(outcome.decision.verdict(), &Verdict::Modify(changed.as_object().cloned().unwrap()));
    let outcome = ask(&one(&format!("package p\n{}{}", change(50, "a"), change(50, "b"))), bash("c"));
    assert_eq!(outcome.decision.verdict(), &Verdict::Ask);
}

#[test]
fn context_comes_as_text_or_object_and_prompts_are_blocked() {
    let set = published();
    let prompt = |text: &str| json!({"hook_event_name": "UserPromptSubmit", "prompt": text});
    let outcome = ask(&set, prompt("Please FIX it"));
    assert_eq!(outcome.decision.context_parts().collect::<Vec<_>>(), ["Run the tests after each change."]);
    assert_eq!(rules(&outcome), ["prompt_context"]);
    let outcome = ask(&set, json!({"hook_event_name": "SessionStart", "source": "startup"}));
    assert_eq!(outcome.decision.context_parts().collect::<Vec<_>>(), ["Started by startup"]);
    assert_eq!(rules(&outcome), ["BRIEF-001"]);
    let outcome = ask(&set, prompt("use AKIAABCDEFGHIJKLMNOP"));
    assert_eq!(outcome.decision.verdict(), &Verdict::Block);
    assert_eq!(outcome.decision.severity(), Some(Severity::Critical));
}

#[test]
fn a_stop_is_blocked_by_what_signals_say() {
    let set = published();
    assert_eq!(set.signals("Stop", None).into_iter().collect::<Vec<_>>(), ["git_branch", "unit_tests"]);
    assert!(set.signals("PreToolUse", Some("Bash")).is_empty());
    let stop = |active: bool, tests: Value| {
        let signals = json!({"git_branch": "main", "unit_tests": tests}).as_object().cloned().unwrap();
        let event = json!({"hook_event_name": "Stop", "stop_hook_active": active});
        ask_with(&set, event, Additions { signals, ..Additions::default() })
    };
    let failed = json!({"success": false, "exit_code": 1, "output": "2 failed", "error": ""});
    let outcome = stop(false, failed.clone());
    assert_eq!(outcome.decision.verdict(), &Verdict::Block);
    assert_eq!(outcome.decision.reason(), "Tests fail on main: 2 failed [STOP-001]");
    assert_eq!(stop(true, failed).decision.verdict(), &Verdict::None);
    assert_eq!(stop(false, json!("ok")).decision.verdict(), &Verdict::None);
}

#[test]
fn a_star_is_every_tool_and_the_session_is_seen() {
    let set = published();
    for (event, tool) in [("PreToolUse", "mcp__fs__rm"), ("PermissionRequest", "Anything")] {
        assert!(set.routed(event, Some(tool)).contains(&"cupcake.policies.every_tool"), "{event} {tool}");
    }
    let call =
        json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__fs__rm", "tool_input": {"path": "/x"}});
    let additions = Additions {
        session: json!({"looping": true}),
        effects: json!({"paths": [{"access": "delete", "path": "/x"}]}),
        ..Additions::default()
    };
    assert_eq!(rules(&ask_with(&set, call, additions)), ["LOOP-001", "MCP-001"]);
}

#[test]
fn only_what_is_routed_is_parsed() {
    let set = published();
    assert_eq!(set.routed("PreToolUse", Some("Bash")).len(), 11);
    assert_eq!(set.routed("PreToolUse", Some("WebFetch")).len(), 3);
    assert_eq!(set.routed("UserPromptSubmit", None), ["cupcake.policies.prompt_context"]);
    assert!(set.routed("SessionEnd", None).is_empty());
    assert!(!set.packages().any(|(package, ..)| package.contains("system") && package.ends_with("system")));
    let broken_elsewhere = one(
        "# METADATA\n# custom:\n#   routing:\n#     required_events: [Stop]\npackage p\ndeny contains 1 if {",
    );
    let outcome = ask(&broken_elsewhere, bash("ls"));
    assert!(outcome.errors.is_empty() && outcome.timings.is_empty());
}

#[test]
fn a_policy_without_a_route_is_run_for_every_event() {
    let set = one("package mine.rules\nhalt if input.session.looping\nallow_override contains \"fine\"");
    let outcome = ask(&set, json!({"hook_event_name": "Notification"}));
    assert_eq!(outcome.decision.verdict(), &Verdict::Allow);
    let looping = Additions { session: json!({"looping": true}), ..Additions::default() };
    let outcome = ask_with(&set, bash("ls"), looping);
    assert_eq!(outcome.decision.verdict(), &Verdict::Halt);
    let verbs: Vec<Verb> = outcome.decision.findings().map(|finding| finding.verb).collect();
    assert_eq!(verbs, [Verb::Halt, Verb::Allow]);
    assert_eq!(rules(&outcome), ["one", "one"]);
}

#[test]
fn the_rarer_parts_of_the_language_work() {
    for text in [
        "deny contains \"w\" if { x with input as {\"a\": 1} }\nx if input.a == 1",
        "deny contains \"w\" if { print(\"noise\"); walk(input, [_, v]); v == \"Bash\" }",
        "deny contains \"w\" if f(1) == 0\ndefault f(_) := 0\nf(x) := 1 if x > 5",
        "deny contains \"w\" if m == \"d\"\nm := t if { t := input.none.at_all } else := \"d\"",
        "deny contains \"w\" if m == \"d\"\nm := t if { some t in [] } else := \"d\"",
        "deny contains \"w\" if not q\nq if { x := input.none }",
        "deny contains \"w\" if [y | some x in [\"tool_name\", \"none\"]; y := input[x]] == [\"Bash\"]",
        "deny contains \"w\" if not to_number(\"a\")",
        "deny contains \"w\" if level(input.tool_name) == 1\nlevel(x) := 1 if x == \"Bash\"\nlevel(x) := 2 if x == \"Read\"",
    ] {
        let outcome = ask(&one(&format!("package p\nimport rego.v1\n{text}")), bash("ls"));
        assert_eq!(outcome.decision.verdict(), &Verdict::Deny, "{text}");
    }
}

#[test]
fn expressions_of_every_kind_match() {
    let prelude = "package p\nimport rego.v1\ntarget := input.tool_input.path if {\n\tinput.x\n} else := path if {\n\t\
        path := input.tool_input.url\n} else := \"none\"\n";
    for condition in [
        r"regex.match(`(?i)^RM\s`, input.tool_input.command)",
        r"regex.match(`\p{L}+\b`, input.tool_input.command)",
        r#"glob.match("rm *", [], input.tool_input.command)"#,
        r#"base64.encode("a") == "YQ==""#,
        r#"every word in split(input.tool_input.command, " ") { count(word) > 0 }"#,
        r#"sprintf("%s-%d", ["a", 1]) == "a-1""#,
        r#"json.unmarshal("{\"a\": 1}").a == 1"#,
        r#"json.marshal(array.concat([1], [{"a": 2}])) == "[1,{\"a\":2}]""#,
        r#"regex.replace("a//b", `/{2,}`, "/") == "a/b""#,
        r#"substring("abc", 0, count("abc") - 1) == trim("*ab*", "*")"#,
        r#"target == "none"; not input.tool_name in {"Read"}; [k | some k, v in {"a": 1}; v == 1] == ["a"]"#,
    ] {
        let outcome =
            ask(&one(&format!("{prelude}deny contains \"w\" if {{\n{condition}\n}}")), bash("rm x"));
        assert_eq!(rules(&outcome), ["one"], "{condition}");
    }
}

#[test]
fn a_set_that_holds_no_decision_is_an_error() {
    let outcome = ask(
        &one("package p\ndeny contains 7\nask contains \"really?\"\nmodify contains {\"a\": 1}"),
        bash("ls"),
    );
    assert_eq!(outcome.decision.verdict(), &Verdict::Ask);
    assert_eq!(outcome.errors.len(), 2);
    assert!(outcome.errors.iter().all(|error| matches!(error.kind, RegoErrorKind::Shape { .. })));
}
