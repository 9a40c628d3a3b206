//! Payloads of the real client are decoded and written back unchanged.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use context_graph_events::{Event, EventName, EventPayload, InjectsContext, decode, schema};
use serde_json::Value;

fn recorded() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("variants")] {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|e| e == "json") && !name.starts_with("statusLine") {
                files.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_event_has_a_recording_and_every_recording_is_a_known_event() {
    let mut seen: Vec<&str> = Vec::new();
    let files = recorded();
    assert_eq!(files.len(), 68, "33 events and 35 variants");
    for (path, bytes) in &files {
        let event = Event::from_slice(bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = event.known_name().unwrap_or_else(|| panic!("{}: unknown", path.display()));
        assert!(path.file_name().unwrap().to_string_lossy().starts_with(name.as_str()));
        seen.push(name.as_str());
    }
    for name in EventName::ALL {
        assert!(seen.contains(&name.as_str()), "no recording of {name}");
    }
}

#[test]
fn recordings_survive_a_round_trip_to_the_value() {
    for (path, bytes) in recorded() {
        let before: Value = serde_json::from_slice(&bytes).unwrap();
        let event = Event::from_slice(&bytes).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), before, "{}", path.display());
        assert_eq!(Value::Object(event.into_object()), before, "{}", path.display());
    }
}

#[test]
fn recordings_leave_no_field_unknown() {
    for (path, bytes) in recorded() {
        let map = decode::object(&bytes).unwrap();
        let properties = context_graph_events::claude_code::payload_schema(
            EventName::parse(map["hook_event_name"].as_str().unwrap()).unwrap(),
        );
        for key in map.keys() {
            assert!(properties["properties"].get(key).is_some(), "{}: `{key}`", path.display());
        }
    }
}

#[test]
fn recordings_validate_against_the_published_schema() {
    let validator = jsonschema::validator_for(&schema::payloads()).unwrap();
    for (path, bytes) in recorded() {
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        if let Err(error) = validator.validate(&value) {
            panic!("{}: {error}", path.display());
        }
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = jsonschema::validator_for(&schema::payloads()).unwrap();
    for (_, bytes) in recorded() {
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        for key in whole.as_object().unwrap().keys().filter(|k| *k != "hook_event_name") {
            let mut broken = whole.clone();
            broken.as_object_mut().unwrap().remove(key);
            let ours = Event::from_object(broken.as_object().unwrap().clone()).is_ok();
            assert_eq!(ours, validator.is_valid(&broken), "without `{key}`: {broken}");
        }
    }
}

#[test]
fn an_unknown_event_is_an_event() {
    let raw = serde_json::json!({"hook_event_name": "BrandNew", "session_id": "s", "shiny": {"x": 1}});
    let event = Event::from_object(raw.as_object().unwrap().clone()).unwrap();
    assert_eq!(event.name(), "BrandNew");
    assert_eq!(event.session_id(), "s");
    assert_eq!(event.known_name(), None);
    assert_eq!(serde_json::to_value(&event).unwrap(), raw);
}

#[test]
fn unknown_enum_values_are_kept() {
    let raw = serde_json::json!({
        "hook_event_name": "SessionStart", "session_id": "s", "transcript_path": "/t", "cwd": "/c",
        "source": "teleport", "permission_mode": "yolo",
    });
    let event = Event::from_object(raw.as_object().unwrap().clone()).unwrap();
    let Event::SessionStart(start) = &event else { panic!("not a SessionStart") };
    assert_eq!((start.source.as_str(), start.source_str()), ("teleport", "other"));
    assert_eq!(serde_json::to_value(&event).unwrap(), raw);
}

#[test]
fn context_is_injected_by_the_three_events_that_print_it() {
    fn name<P: InjectsContext>() -> EventName {
        <P as EventPayload>::NAME
    }
    use context_graph_events::claude_code::{
        PreCompactPayload, SessionStartPayload, UserPromptSubmitPayload,
    };
    assert_eq!(name::<SessionStartPayload>(), EventName::SessionStart);
    assert_eq!(name::<UserPromptSubmitPayload>(), EventName::UserPromptSubmit);
    assert_eq!(name::<PreCompactPayload>(), EventName::PreCompact);
}
