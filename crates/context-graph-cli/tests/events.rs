//! Events other than tool calls, as the client sees them: what is read, and what a refusal does.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, Run};
use serde_json::{Value, json};

fn send(place: &Place, event: &str, more: &Value) -> Run {
    let mut payload =
        json!({"hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    place.send(&["hooks", "event"], payload.to_string())
}

/// A project with one rule that always gives this verdict on these events.
fn where_policy_says(verb: &str, events: &[&str]) -> Place {
    let place = Place::new();
    let text = format!(
        "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: {}\n\
         package cupcake.policies.always\n\nimport rego.v1\n\n\
         {verb} contains {{\"rule_id\": \"R-1\", \"reason\": \"TESTS-FIRST\", \"severity\": \"HIGH\"}}\n",
        json!(events)
    );
    place.rego("always.rego", &text);
    place
}

#[test]
fn an_event_with_only_the_fields_of_the_contract_is_answered_and_recorded() {
    let place = Place::new();
    for (event, own) in [
        ("Notification", json!({"message": "waiting for you"})),
        ("SubagentStop", json!({"stop_hook_active": false})),
        ("Stop", json!({"stop_hook_active": true})),
        ("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
    ] {
        send(&place, event, &own).succeeded();
    }
    let compact = send(&place, "PreCompact", &json!({"trigger": "auto"}));
    assert_eq!(compact.code, 0, "{compact:?}");
    let log: Value = serde_json::from_str(&place.run(&["audit", "log", "--json"]).stdout).unwrap_or_default();
    for event in ["Notification", "SubagentStop", "PreCompact"] {
        assert!(log.to_string().contains(event), "{event} is not on record: {log}");
    }
}

#[test]
fn a_field_of_the_wrong_type_is_named() {
    let place = Place::new();
    for (event, own, field) in [
        ("Notification", json!({"message": "m", "notification_type": 7}), "notification_type"),
        ("SubagentStop", json!({"stop_hook_active": false, "agent_id": []}), "agent_id"),
        ("PreCompact", json!({"trigger": "auto", "custom_instructions": 7}), "custom_instructions"),
    ] {
        let error = send(&place, event, &own).failed("parse");
        assert!(error.contains(&format!("`{field}`")), "{error}");
    }
}

#[test]
fn every_refusal_of_a_stop_keeps_the_agent_working_with_the_reason() {
    for verb in ["halt", "deny", "block"] {
        let place = where_policy_says(verb, &["Stop", "SubagentStop"]);
        for event in ["Stop", "SubagentStop"] {
            let answer = send(&place, event, &json!({"stop_hook_active": false})).succeeded();
            assert_eq!(answer["decision"], "block", "{verb} on {event}: {answer}");
            assert_eq!(answer["reason"], "TESTS-FIRST [R-1]", "{verb} on {event}: {answer}");
            assert!(answer.get("continue").is_none(), "{verb} on {event} ends the agent: {answer}");
            assert_eq!(answer["ruling"]["verdict"], verb);
        }
    }
}

#[test]
fn an_agent_that_is_let_go_is_not_said_to_be_held() {
    for verb in ["halt", "deny", "block"] {
        let place = where_policy_says(verb, &["Stop", "SubagentStop"]);
        for event in ["Stop", "SubagentStop"] {
            let answer = send(&place, event, &json!({"stop_hook_active": true})).succeeded();
            assert!(answer.get("decision").is_none() && answer.get("continue").is_none(), "{answer}");
            let said = answer["systemMessage"].as_str().unwrap();
            assert!(said.contains("held once already and may stop: TESTS-FIRST [R-1]"), "{said}");
            assert!(!said.contains(verb), "{said}");
            assert_eq!(answer["ruling"]["verdict"], "allow", "{answer}");
        }
        let refused = place.run(&["audit", "log", "--json", "--verdict", verb]);
        assert_eq!(refused.stdout.trim(), "[]", "{refused:?}");
    }
}

#[test]
fn a_refusal_after_a_tool_call_reaches_the_model() {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "tool_response": {}});
    for verb in ["deny", "block"] {
        let answer = send(&where_policy_says(verb, &["PostToolUse"]), "PostToolUse", &call).succeeded();
        assert_eq!((&answer["decision"], &answer["reason"]), (&json!("block"), &json!("TESTS-FIRST [R-1]")));
        assert!(answer.get("continue").is_none(), "{verb} ends the turn: {answer}");
    }
    // The client ends the turn and tells the model why in the next one.
    let answer = send(&where_policy_says("halt", &["PostToolUse"]), "PostToolUse", &call).succeeded();
    assert_eq!((&answer["continue"], &answer["stopReason"]), (&json!(false), &json!("TESTS-FIRST [R-1]")));
}

const CALL: &str =
    r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "tool_response": {}}"#;

/// The event's own fields.
fn own_fields(event: &str) -> Value {
    match event {
        "Stop" | "SubagentStop" => json!({"stop_hook_active": false}),
        "SessionStart" => json!({"source": "startup"}),
        "Notification" => json!({"message": "m"}),
        _ => serde_json::from_str(CALL).unwrap(),
    }
}

/// The notices. They have quotes where the record has backticks.
fn notices(answer: &Value) -> String {
    answer["notices"].to_string().replace('\'', "`")
}

#[test]
fn a_verb_that_is_raised_is_on_record_as_that() {
    for event in ["Stop", "SubagentStop", "PostToolUse", "PermissionRequest"] {
        let place = where_policy_says("ask", &[event]);
        let answer = send(&place, event, &own_fields(event)).succeeded();
        let told = format!("{event} cannot carry `ask`: `block` instead");
        assert_eq!(answer["ruling"]["verdict"], "block", "{answer}");
        assert_eq!(answer["ruling"]["reason"], format!("TESTS-FIRST [R-1] ({told})"), "{answer}");
        assert!(notices(&answer).contains(&told), "{answer}");
        let record = place.run(&["audit", "export", "--format", "jsonl"]).stdout;
        assert!(record.contains(&told), "{event}: {record}");
    }
    let place = where_policy_says("ask", &["PostToolUse"]);
    let answer = send(&place, "PostToolUse", &own_fields("PostToolUse")).succeeded();
    assert_eq!(answer["reason"], "TESTS-FIRST [R-1]", "the model has no use for it: {answer}");
    let shown = place.run(&["audit", "show", "t"]).stdout;
    assert!(shown.contains("PostToolUse cannot carry `ask`: `block` instead"), "{shown}");
}

#[test]
fn a_refusal_that_nothing_can_carry_is_told_and_on_record() {
    for event in ["SessionStart", "Notification"] {
        for verb in ["deny", "halt", "block"] {
            let place = where_policy_says(verb, &[event]);
            let answer = send(&place, event, &own_fields(event)).succeeded();
            let told = format!("{event} cannot carry `{verb}`: dropped");
            assert_eq!(
                (&answer["ruling"]["verdict"], &answer["ruling"]["rules"]),
                (&json!("dropped"), &json!(["R-1"]))
            );
            assert!(notices(&answer).contains(&told), "{answer}");
            let message = answer["systemMessage"].as_str().unwrap();
            assert!(message.contains("TESTS-FIRST [R-1]") && message.contains(&told), "{message}");
            let dropped = place.run(&["audit", "log", "--verdict", "dropped", "--rule", "R-1"]).stdout;
            assert!(dropped.contains(event), "{dropped}");
            let record = place.run(&["audit", "export", "--format", "jsonl"]).stdout;
            assert!(record.contains(&told), "{record}");
        }
    }
}

#[test]
fn words_that_cannot_reach_the_model_are_told_and_on_record() {
    let place = Place::new();
    let text = "# METADATA\n# scope: package\n# custom:\n#   routing:\n#     required_events: [\"PermissionRequest\"]\n\
                package cupcake.policies.words\n\nimport rego.v1\n\nadd_context contains \"mind the gap\"\n";
    place.rego("words.rego", text);
    let answer = send(&place, "PermissionRequest", &own_fields("PermissionRequest")).succeeded();
    let told = "PermissionRequest cannot carry `add_context`: dropped";
    assert!(notices(&answer).contains(told) && notices(&answer).contains("mind the gap"), "{answer}");
    assert_eq!(
        answer.get("hookSpecificOutput"),
        None,
        "the permission is still the user's to give: {answer}"
    );
    let record = place.run(&["audit", "export", "--format", "jsonl"]).stdout;
    assert!(record.contains(told), "{record}");
}

#[test]
fn an_event_that_carries_the_verb_has_nothing_to_add() {
    let place = where_policy_says("deny", &["PreToolUse", "PostToolUse"]);
    for event in ["PreToolUse", "PostToolUse"] {
        let answer = send(&place, event, &own_fields(event)).succeeded();
        assert_eq!(answer["ruling"]["reason"], "TESTS-FIRST [R-1]", "{answer}");
        assert!(!notices(&answer).contains("carry"), "{answer}");
    }
}
