//! `tool_use_id` identifies a tool invocation on every event about it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::Event;
use context_graph_events::claude_code::{PostToolUsePayload, PreToolUsePayload};
use serde_json::{Value, json};

fn pre(id: Value) -> Value {
    json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/c", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id,
    })
}

fn post(id: Value) -> Value {
    let mut payload = pre(id);
    payload["hook_event_name"] = json!("PostToolUse");
    payload["tool_response"] = json!({"stdout": "x"});
    payload
}

fn without(mut payload: Value, key: &str) -> Value {
    payload.as_object_mut().unwrap().remove(key);
    payload
}

#[test]
fn a_pre_tool_use_payload_gives_its_id_to_the_handler() {
    let payload: PreToolUsePayload = serde_json::from_value(pre(json!("toolu_1"))).unwrap();
    assert_eq!(payload.tool_use_id, "toolu_1");
}

#[test]
fn a_pre_tool_use_payload_without_id_is_an_error_that_names_the_field() {
    let error =
        serde_json::from_value::<PreToolUsePayload>(without(pre(json!("x")), "tool_use_id")).unwrap_err();
    assert!(error.to_string().contains("missing required field `tool_use_id`"), "{error}");
}

#[test]
fn a_handler_can_keep_the_id_for_correlation() {
    let event: Event = Event::PreToolUse(serde_json::from_value(pre(json!("abc123"))).unwrap());
    let kept = event.tool_use_id().map(str::to_owned);
    assert_eq!(kept.as_deref(), Some("abc123"));
}

#[test]
fn a_post_tool_use_payload_gives_the_id_of_its_pre_tool_use() {
    let before: PreToolUsePayload = serde_json::from_value(pre(json!("toolu_2"))).unwrap();
    let after: PostToolUsePayload = serde_json::from_value(post(json!("toolu_2"))).unwrap();
    assert_eq!(before.tool_use_id, after.tool_use_id);
}

#[test]
fn a_post_tool_use_payload_without_id_is_an_error_that_names_the_field() {
    let error =
        serde_json::from_value::<PostToolUsePayload>(without(post(json!("x")), "tool_use_id")).unwrap_err();
    assert!(error.to_string().contains("missing required field `tool_use_id`"), "{error}");
}

#[test]
fn events_of_one_call_correlate_and_those_of_others_do_not() {
    let event = |value: Value| Event::from_object(value.as_object().unwrap().clone()).unwrap();
    let first = event(pre(json!("xyz789")));
    assert_eq!(first.tool_use_id(), event(post(json!("xyz789"))).tool_use_id());
    assert_ne!(first.tool_use_id(), event(post(json!("other"))).tool_use_id());
}

#[test]
fn a_valid_id_is_read() {
    assert!(serde_json::from_value::<PreToolUsePayload>(pre(json!("x"))).is_ok());
    assert!(serde_json::from_value::<PostToolUsePayload>(post(json!("x"))).is_ok());
}

#[test]
fn an_empty_id_is_kept() {
    let before: PreToolUsePayload = serde_json::from_value(pre(json!(""))).unwrap();
    let after: PostToolUsePayload = serde_json::from_value(post(json!(""))).unwrap();
    assert_eq!((before.tool_use_id.as_str(), after.tool_use_id.as_str()), ("", ""));
    assert_eq!(serde_json::to_value(&before).unwrap()["tool_use_id"], "");
}

#[test]
fn the_id_is_written_at_the_top_level() {
    let payload: PreToolUsePayload = serde_json::from_value(pre(json!("test123"))).unwrap();
    assert!(serde_json::to_string(&payload).unwrap().contains(r#""tool_use_id":"test123""#));
    assert_eq!(serde_json::to_value(&payload).unwrap()["tool_use_id"], "test123");
}

#[test]
fn the_id_survives_a_round_trip_with_everything_else() {
    let payload: PreToolUsePayload = serde_json::from_value(pre(json!("abc-xyz-123"))).unwrap();
    let text = serde_json::to_string(&payload).unwrap();
    let again: PreToolUsePayload = serde_json::from_str(&text).unwrap();
    assert_eq!(again, payload);
    assert_eq!(again.tool_use_id, "abc-xyz-123");
}

#[test]
fn extra_fields_are_neither_an_error_nor_lost() {
    for (mut value, is_pre) in [(pre(json!("x")), true), (post(json!("x")), false)] {
        value["brand_new"] = json!({"deep": [1, 2]});
        let again = if is_pre {
            serde_json::to_value(serde_json::from_value::<PreToolUsePayload>(value.clone()).unwrap())
        } else {
            serde_json::to_value(serde_json::from_value::<PostToolUsePayload>(value.clone()).unwrap())
        };
        assert_eq!(again.unwrap(), value);
    }
}

#[test]
fn a_failed_call_must_carry_its_id_too_but_a_permission_request_need_not() {
    let mut failure = pre(json!("x"));
    failure["hook_event_name"] = json!("PostToolUseFailure");
    failure["error"] = json!("no");
    let read = |value: Value| Event::from_object(value.as_object().unwrap().clone());
    assert!(read(failure.clone()).is_ok());
    assert!(read(without(failure, "tool_use_id")).unwrap_err().to_string().contains("tool_use_id"));
    let mut request = without(pre(json!("x")), "tool_use_id");
    request["hook_event_name"] = json!("PermissionRequest");
    assert_eq!(read(request).unwrap().tool_use_id(), None);
}
