//! All commands report the same about calls, links and what could not be decided.

use serde_json::{Value, json};

use crate::answer;
use crate::common::Place;

fn result(id: &str, success: bool) -> String {
    json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "", "tool_name": "Bash",
        "tool_input": {"command": "make"}, "tool_use_id": id, "tool_response": {"success": success}})
    .to_string()
}

/// Calls, failures and interruptions from each command; all must agree.
fn told(place: &Place) -> [u64; 3] {
    let of = |counters: &Value| {
        ["calls", "calls_failed", "calls_interrupted"].map(|key| counters[key].as_u64().unwrap())
    };
    let shown = of(&answer(place, &["session", "show", "s", "--json"])["counters"]);
    assert_eq!(of(&answer(place, &["session", "status", "s", "--json"])["counters"]), shown);
    assert_eq!(of(&answer(place, &["session", "list", "--json"])[0]["counters"]), shown);
    let stats = place.run(&["audit", "stats"]).stdout;
    let text = place.run(&["session", "show", "s"]).stdout;
    let calls = if shown[0] == 1 { "1 tool call ".to_owned() } else { format!("{} tool calls ", shown[0]) };
    assert!(stats.starts_with(&calls), "{stats}");
    assert!(text.contains(&format!(", {calls}(")), "{text}");
    for (number, word) in [(shown[1], "failed"), (shown[2], "interrupted")] {
        assert!(text.contains(&format!("{number} {word}")), "{text}");
    }
    let outcomes = answer(place, &["audit", "log", "--json", "--limit", "0", "--tool", "*"]);
    let count = |outcome: &str| {
        outcomes.as_array().unwrap().iter().filter(|call| call["outcome"] == outcome).count() as u64
    };
    assert_eq!([count("failure"), count("interrupted")], [shown[1], shown[2]]);
    shown
}

#[test]
fn results_that_flags_tell_of_are_calls_for_every_reader() {
    let place = Place::new();
    for success in ["true", "false", "true", "false", "true", "false", "true", "false"] {
        let flags = ["hooks", "post-tool", "--session-id", "s", "--tool-name", "Glob", "--success", success];
        place.run(&flags).succeeded();
    }
    assert_eq!(told(&place), [8, 4, 0]);
}

#[test]
fn calls_that_a_session_ends_without_an_answer_to_are_interrupted_for_every_reader() {
    let place = Place::new();
    for _ in 0..2 {
        place.run(&["hooks", "pre-tool", "--session-id", "s", "--tool-name", "Glob"]).succeeded();
    }
    let ended = place.run(&["hooks", "session-end", "--session-id", "s"]).succeeded();
    assert!(ended["session_summary"].as_str().unwrap().contains("2 interrupted"), "{ended}");
    assert_eq!(told(&place), [2, 0, 2]);
}

#[test]
fn a_result_that_comes_again_is_one_call_for_every_reader() {
    let place = Place::new();
    for _ in 0..3 {
        place.send(&["hooks", "event"], result("same", false)).succeeded();
    }
    assert_eq!(told(&place), [1, 1, 0]);
    place.send(&["hooks", "event"], result("other", true)).succeeded();
    assert_eq!(told(&place), [2, 1, 0]);
    // The last report about a call counts.
    place.send(&["hooks", "event"], result("same", true)).succeeded();
    place.send(&["hooks", "event"], result("other", false)).succeeded();
    assert_eq!(told(&place), [2, 1, 0]);
    let line = place.send(&["statusline"], r#"{"session_id": "s"}"#).stdout;
    assert!(line.contains("2 calls · 1 failed"), "{line}");
    place.rego(
        "counts.rego",
        r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["UserPromptSubmit"]
package cupcake.policies.counts

import rego.v1

add_context contains sprintf("%d calls, %d failed", [input.session.calls, input.session.failed])
"#,
    );
    let prompt = ["hooks", "prompt-submit", "--session-id", "s", "--prompt", "how many?"];
    let answered = place.run(&prompt).succeeded().to_string();
    assert!(answered.contains("2 calls, 1 failed"), "{answered}");
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "",
        "stop_hook_active": false});
    place.send(&["hooks", "event"], stop.to_string()).succeeded();
    let row = place.run(&["audit", "sql", "--format", "csv", "SELECT calls, failures FROM v_sessions"]);
    assert!(row.stdout.contains("2,1"), "{row:?}");
}

#[test]
fn a_session_before_that_is_not_known_cannot_be_saved() {
    let place = Place::new();
    for id in ["a", "b"] {
        place.run(&["hooks", "session-start", "--session-id", id]).succeeded();
    }
    let saved = |id: &str, previous: &str| {
        let mut snapshot = answer(&place, &["session", "load", id]);
        snapshot["previous_session_id"] = json!(previous);
        place.send(&["session", "save", "--json"], snapshot.to_string())
    };
    saved("b", "ghost").failed("session_not_found");
    saved("b", "b").failed("validation");
    assert_eq!(saved("b", "a").code, 0);
    saved("a", "b").failed("validation");
    assert!(!place.run(&["session", "show", "b"]).stdout.contains("ghost"));
}

#[test]
fn a_session_that_would_continue_itself_starts_without_one_before_it_and_says_so() {
    let place = Place::new();
    let start = |id: &str, previous: &str| {
        place
            .run(&["hooks", "session-start", "--session-id", id, "--previous-session-id", previous])
            .succeeded()
    };
    place.run(&["hooks", "session-start", "--session-id", "a1"]).succeeded();
    assert_eq!(start("a2", "a1").get("error_code"), None);
    for (id, previous) in [("a8", "a8"), ("a1", "a2")] {
        let answer = start(id, previous);
        assert_eq!(answer["error_code"], "validation", "{answer}");
        assert!(answer["notices"].to_string().contains("leads back to this session"), "{answer}");
        assert!(!place.run(&["session", "show", id]).stdout.contains("continues"), "{id}");
    }
}

#[test]
fn a_call_that_is_not_there_is_not_a_session_that_is_not_there() {
    let place = Place::new();
    place.run(&["hooks", "session-start", "--session-id", "s"]).succeeded();
    place.run(&["audit", "show", "nope", "--json"]).failed("call_not_found");
}

fn policy(name: &str, rule: &str) -> String {
    format!(
        "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PreToolUse\"]\n\
         package cupcake.policies.{name}\n\nimport rego.v1\n\n{rule}\n"
    )
}

#[test]
fn a_policy_that_looks_at_the_input_is_not_asked_about_a_call_without_one() {
    let place = Place::new();
    let deny = |name: &str, condition: &str| {
        policy(
            name,
            &format!("deny contains {{\"reason\": \"{name}\", \"rule_id\": \"{name}\"}} if {condition}"),
        )
    };
    place.rego("input.rego", &deny("by_input", "not input.tool_input.pattern"));
    let flags =
        |tool: &str| place.run(&["hooks", "pre-tool", "--session-id", "s", "--tool-name", tool]).succeeded();
    let answer = flags("Grep");
    assert_eq!(answer.get("ruling"), None, "{answer}");
    assert!(answer["notices"].to_string().contains("not evaluated: input.rego"), "{answer}");
    place.rego("name.rego", &deny("by_name", "input.tool_name == \"Glob\""));
    assert_eq!(flags("Glob")["ruling"]["verdict"], "deny");
    assert_eq!(flags("Grep").get("ruling"), None);
}

#[test]
fn a_policy_that_cannot_be_read_is_told_beside_the_decision() {
    let place = Place::new();
    place.rego("broken.rego", "package cupcake.policies.broken\nimport rego.v1\ndeny contains 1 if {");
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "",
        "tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t"});
    let answer = place.send(&["hooks", "event"], call.to_string()).succeeded();
    assert_eq!(
        (&answer["error_code"], &answer["ruling"]["verdict"]),
        (&json!("policy"), &json!("ask")),
        "{answer}"
    );
    assert!(answer["notices"].to_string().contains("broken.rego"), "{answer}");
}
