//! Any tool input becomes a document that a fixed set of policies decides on, twice, with the same result: in time, and without
//! an error of the engine.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use context_graph_events::Event;
use context_graph_policy::rego::{
    Additions, Evaluation, Input, Limits, PolicySet, RegoErrorKind, affected_directories, effects_view, read_folder,
};
use context_graph_policy::{Context, ListedFileSystem, Guards, PolicyConfig};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

static POLICIES: LazyLock<PolicySet> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/context-graph-policy/tests/rego_policies");
    let (files, errors) = read_folder(&folder, |path, _| std::fs::read(path));
    assert!(!files.is_empty() && errors.is_empty(), "{errors:?}");
    PolicySet::new(files, errors)
});

const LIMITS: Limits = Limits { time: Duration::from_secs(20) };

/// A whole payload, the input of a file tool, or else a command.
fn event(text: &str) -> Option<Event> {
    let payload = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) if object.contains_key("hook_event_name") => Value::Object(object),
        Ok(input @ Value::Object(_)) => call("Write", input),
        _ => call("Bash", json!({ "command": text })),
    };
    Event::from_object(payload.as_object()?.clone()).ok()
}

fn call(tool: &str, input: Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/home/u/p",
        "tool_name": tool, "tool_input": input, "tool_use_id": "t",
    })
}

fn decide(event: &Event) -> Evaluation {
    let fs = ListedFileSystem::default();
    let context = Context { home: "/home/u", project: "/home/u/p", cwd: "/home/u/p", fs: &fs };
    let effects = match event {
        Event::PreToolUse(call) => Guards::new(PolicyConfig::default()).effects(&call.tool_name, &call.tool_input, &context),
        _ => Ok(Default::default()),
    }
    .unwrap_or_default();
    let config = json!({"protected_paths": {"paths": ["src/legacy/", "*.lock"]}});
    let additions = Additions {
        effects: effects_view(&effects),
        affected_directories: affected_directories(&effects),
        builtin_config: config.as_object().cloned().unwrap_or_default(),
        ..Additions::default()
    };
    let input = Input::new(&event.clone().into_object(), additions, &context);
    POLICIES.evaluate(event.name(), event.tool_name(), &input, LIMITS)
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(event) = event(text) else { return };
    let (once, again) = (decide(&event), decide(&event));
    for error in &once.errors {
        // A policy may fail on odd input, but it must compile and end.
        assert!(matches!(error.kind, RegoErrorKind::Evaluate(_) | RegoErrorKind::Shape { .. }), "{error}");
    }
    assert_eq!(once.decision, again.decision);
    let settled = context_graph_policy::legality::settle(None, &event, once.decision);
    let _ = event.known_name().map(|name| context_graph_policy::reply(name, &settled));
});
