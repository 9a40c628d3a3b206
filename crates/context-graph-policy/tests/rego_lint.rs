//! Remarks about policies that run but cannot work as intended.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use context_graph_policy::rego::{PolicyFile, PolicySet, Provided, read_folder};

fn remarks_on(files: &[(&str, &str)], provided: &Provided) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| PolicyFile { path: (*path).into(), text: (*text).into() };
    let set = PolicySet::new(files.iter().map(file).collect(), Vec::new());
    assert!(set.errors().is_empty(), "{:?}", set.errors());
    let remarks = set.remarks(provided, |_| false);
    let shown = |is_error: bool| if is_error { "error" } else { "hint" };
    remarks
        .iter()
        .map(|r| format!("{}:{}: {}: {}", r.file, r.line.unwrap_or(0), shown(r.is_error), r.what))
        .collect()
}

fn remarks(routing: &str, rules: &str) -> Vec<String> {
    let text =
        format!("# METADATA\n# custom:\n#   routing: {{{routing}}}\npackage p\nimport rego.v1\n{rules}");
    remarks_on(&[("p.rego", &text)], &Provided::default())
}

const BASH: &str = "required_events: [PreToolUse], required_tools: [Bash]";
const DENY: &str = "deny contains \"no\"";

fn only(found: &[String], place: &str, words: &[&str]) {
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with(place), "{found:?}");
    assert!(words.iter().all(|word| found[0].contains(word)), "{found:?} lacks one of {words:?}");
}

#[test]
fn good_policies_are_not_remarked_on() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rego_policies");
    let (files, errors) = read_folder(&folder, |path, _| std::fs::read(path));
    let provided = Provided {
        signals: ["git_branch", "unit_tests"].map(str::to_owned).into(),
        builtin_config: ["protected_paths"].map(str::to_owned).into(),
    };
    let set = PolicySet::new(files, errors);
    let errors: Vec<_> =
        set.remarks(&provided, |_| false).into_iter().filter(|remark| remark.is_error).collect();
    assert_eq!(errors, []);
    assert_eq!(remarks(BASH, DENY), [""; 0]);
    assert_eq!(
        remarks(
            "required_events: [\"*ToolUse\"], required_tools: [\"*\", mcp__a__b, \"Web*\"]",
            "halt if true"
        ),
        [""; 0]
    );
}

#[test]
fn a_verb_that_no_routed_event_can_carry_is_named_with_the_event() {
    only(
        &remarks("required_events: [PostToolBatch]", DENY),
        "p.rego:6: error: ",
        &["PostToolBatch cannot carry `deny`", "`halt`"],
    );
    only(
        &remarks("required_events: [SessionEnd]", "block contains 1"),
        "p.rego:6: error: ",
        &["SessionEnd", "dropped"],
    );
    only(
        &remarks(BASH, "block contains \"x\""),
        "p.rego:6: error: ",
        &["PreToolUse cannot carry `block`", "`deny`"],
    );
    only(
        &remarks("required_events: [PreToolUse, PostToolBatch]", DENY),
        "p.rego:6: hint: ",
        &["PostToolBatch cannot carry `deny`, only PreToolUse can"],
    );
    for refusal in ["halt", "deny", "block"] {
        let routed = "required_events: [Stop, SubagentStop, PostToolUse, UserPromptSubmit]";
        assert_eq!(remarks(routed, &format!("{refusal} contains \"no\"")), [""; 0]);
    }
    assert_eq!(remarks_on(&[("p.rego", "package p\ndeny contains \"no\"")], &Provided::default()), [""; 0]);
}

#[test]
fn routes_that_lead_from_nowhere_are_errors() {
    only(
        &remarks("required_events: [PreTolUse]", DENY),
        "p.rego:3: error: ",
        &["`PreTolUse`", "`PreToolUse`"],
    );
    let bash = "required_events: [PreToolUse], required_tools: ";
    only(&remarks(&format!("{bash}[bash]"), DENY), "p.rego:3: error: ", &["`bash`", "perhaps `Bash`"]);
    only(&remarks(&format!("{bash}[Write, Teleport]"), DENY), "p.rego:3: hint: ", &["`Teleport`"]);
    only(
        &remarks("required_events: [Stop], required_tools: [Bash]", "block contains 1"),
        "p.rego:3: error: ",
        &["Stop", "never run"],
    );
}

#[test]
fn a_policy_must_decide_something_under_a_known_name() {
    only(&remarks(BASH, "x := 1"), "p.rego:3: error: ", &["decides nothing"]);
    only(&remarks(BASH, "denny contains \"no\""), "p.rego:6: error: ", &["`denny`", "perhaps `deny`"]);
    only(&remarks(BASH, "deny contains \"no\"\nwarn contains \"w\""), "p.rego:7: error: ", &["`warn`"]);
    assert_eq!(remarks(BASH, "words contains \"rm\"\ndeny contains w if some w in words"), [""; 0]);
}

#[test]
fn ids_are_unique_across_packages_but_not_within_one() {
    let policy = |package: &str| {
        format!(
            "package {package}\ndeny contains {{\"rule_id\": \"A-1\"}}\nask contains {{\"rule_id\": \"A-1\"}}"
        )
    };
    let (a, b) = (policy("a"), policy("b"));
    assert_eq!(remarks_on(&[("a.rego", &a)], &Provided::default()), [""; 0]);
    let both = remarks_on(&[("a.rego", &a), ("b.rego", &b)], &Provided::default());
    only(&both, "b.rego:2: error: ", &["`A-1`", "a.rego"]);
}

#[test]
fn facts_that_nobody_provides_are_named() {
    let routing = format!("{BASH}, required_signals: [branch]");
    let rule = "deny contains \"no\" if input.signals.branch == \"main\"";
    only(&remarks(&routing, rule), "p.rego:3: error: ", &["`branch`", "not configured"]);
    let other = "deny contains \"no\" if input.signals[\"status\"] == 1 # input.signals.comment";
    only(&remarks(BASH, other), "p.rego:6: error: ", &["`status`", "required_signals"]);
    let config = "deny contains input.builtin_config.limits.message";
    only(&remarks(BASH, config), "p.rego:6: hint: ", &["`[builtin_config.limits]`"]);
}

#[test]
fn a_function_that_there_is_not_is_named() {
    let rule = "deny contains \"no\" if {\n  f(1)\n  not (1 == 2)\n  http.send({})\n  contains(\"a(\", \"b\") # g(\n}\nf(x) if x > 0";
    only(&remarks(BASH, rule), "p.rego:9: error: ", &["`http.send`"]);
}

#[test]
fn a_wrong_name_is_found_in_the_file_and_on_the_line_that_states_it() {
    let header = "# METADATA\n# custom:\n#   routing:\n#     required_events:\n#       - PreToolUse\n";
    let good = format!("{header}#     required_tools: [Bash]\npackage p\n{DENY}");
    let bad = format!("{header}#     required_tools: [Bsh]\npackage p\n{DENY}");
    let found = remarks_on(&[("a.rego", &good), ("b.rego", &bad)], &Provided::default());
    only(&found, "b.rego:6: error", &["`Bsh`", "Bash"]);
}
