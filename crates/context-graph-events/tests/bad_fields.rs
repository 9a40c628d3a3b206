//! A wrong type or a missing field is an error that names it, on every event.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::claude_code::payload_schema;
use context_graph_events::{Event, EventName};
use serde_json::{Value, json};

/// The smallest value that fits a schema of ours.
fn minimal(schema: &Value) -> Value {
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(any_of) = schema.get("anyOf") {
        return minimal(&any_of[0]);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => json!("x"),
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        Some("object") => schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|key| {
                let key = key.as_str().unwrap();
                (key.to_owned(), minimal(&schema["properties"][key]))
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        _ => json!({}),
    }
}

/// A value that does not fit the schema; `None` if every value fits.
fn unfit(schema: &Value) -> Option<Value> {
    let schema = schema.get("anyOf").map_or(schema, |any_of| &any_of[0]);
    match minimal(schema) {
        Value::Object(_) if schema.get("type").is_none() => None,
        Value::String(_) => Some(json!(5)),
        _ => Some(json!("a string")),
    }
}

fn read(value: &Value) -> Result<Event, String> {
    Event::from_object(value.as_object().unwrap().clone()).map_err(|e| e.to_string())
}

#[test]
fn the_minimal_payload_of_every_event_is_read() {
    for name in EventName::ALL {
        let payload = minimal(&payload_schema(name));
        assert_eq!(read(&payload).unwrap().known_name(), Some(name));
    }
}

#[test]
fn each_missing_required_field_is_named() {
    for name in EventName::ALL {
        let schema = payload_schema(name);
        for key in schema["required"].as_array().unwrap() {
            let key = key.as_str().unwrap();
            let mut payload = minimal(&schema);
            payload.as_object_mut().unwrap().remove(key);
            let error = read(&payload).unwrap_err();
            assert!(error.contains(&format!("`{key}`")) && error.contains("expected"), "{name}: {error}");
        }
    }
}

#[test]
fn each_field_of_the_wrong_type_is_named_with_expected_and_actual() {
    let mut tried = 0;
    for name in EventName::ALL {
        let schema = payload_schema(name);
        for (key, field) in schema["properties"].as_object().unwrap() {
            let Some(bad) = unfit(field).filter(|_| key != "hook_event_name") else { continue };
            let mut payload = minimal(&schema);
            payload[key] = bad;
            let error = read(&payload).unwrap_err();
            assert!(error.contains(key.as_str()), "{name}.{key}: {error}");
            assert!(error.contains("expected") && error.contains("found"), "{name}.{key}: {error}");
            tried += 1;
        }
    }
    assert!(tried > 250, "only {tried} fields tried");
}

#[test]
fn a_required_field_that_is_null_is_a_wrong_type() {
    let mut payload = minimal(&payload_schema(EventName::PreToolUse));
    payload["tool_name"] = Value::Null;
    assert_eq!(read(&payload).unwrap_err(), "field `tool_name`: expected a string, found null");
}

#[test]
fn the_event_name_must_be_a_string() {
    assert!(read(&json!({"hook_event_name": 7})).unwrap_err().contains("`hook_event_name`"));
    assert!(read(&json!({})).unwrap_err().contains("`hook_event_name`"));
}

/// Payloads with only the fields of the hook contract. The client sends more.
#[test]
fn an_event_that_names_no_more_than_it_must_is_read() {
    let common = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/c"});
    for (name, own, optional) in [
        ("Notification", json!({"message": "m"}), &["title", "notification_type"][..]),
        (
            "SubagentStop",
            json!({"stop_hook_active": false}),
            &["agent_id", "agent_type", "agent_transcript_path"][..],
        ),
        ("PreCompact", json!({"trigger": "auto"}), &["custom_instructions"][..]),
    ] {
        let mut payload = common.clone();
        payload["hook_event_name"] = name.into();
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        assert_eq!(read(&payload).unwrap().into_object(), *payload.as_object().unwrap());
        for key in optional {
            let with = |value: Value| {
                let mut payload = payload.clone();
                payload[key] = value;
                payload
            };
            let absent = with(Value::Null);
            assert_eq!(read(&absent).unwrap().into_object(), *absent.as_object().unwrap(), "{name}.{key}");
            let error = read(&with(json!(7))).unwrap_err();
            assert_eq!(error, format!("field `{key}`: expected a string, found the number 7"), "{name}");
        }
    }
}
