//! One reader for all agents: renames what their sheets name, fills in what Claude Code always sends, and reads the
//! result as an event of Claude Code. Values of a wrong type are not changed, so decoding fails and the call is
//! answered as an undecided call.

use serde_json::{Map, Value};

use super::detect::OF_A_CALL;
use super::{Agent, Caller, Sheet, Surroundings, call_id, tools};
use crate::claude_code::{Event, EventName, UnknownEvent};
use crate::decode::DecodeError;

/// The prefix of our texts. Some agents send them back as a prompt.
pub const OWN_WORDS: &str = "context-graph: ";

/// Fields in which agents name their event.
const NAMES: [&str; 4] = ["hook_event_name", "hookEventName", "event", "hookName"];

/// Every result of a call has at least one of these fields.
const RESULTS: [&str; 4] = ["tool_response", "tool_result", "toolResult", "tool_output"];

/// Events that must be readable: for these a wrong field is an error. Any other event is kept as an unknown one.
const NEEDED: [EventName; 6] = [
    EventName::PreToolUse,
    EventName::PermissionRequest,
    EventName::PostToolUse,
    EventName::PostToolUseFailure,
    EventName::UserPromptSubmit,
    EventName::Stop,
];

/// Fields that Claude Code sends with every event, but other agents may not.
const COMMON: [(&str, &str); 2] = [("transcript_path", ""), ("cwd", "")];

pub(super) fn event(
    mut object: Map<String, Value>,
    agent: Agent,
    sheet: &Sheet,
    caller: &mut Caller,
    around: Surroundings<'_>,
) -> Result<Event, DecodeError> {
    (sheet.prepare)(&mut object);
    let named = NAMES.iter().find_map(|key| object.remove(*key));
    let name = match named {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(DecodeError::wrong_type("a string", &other).inside("hook_event_name")),
        None => Err(DecodeError::NotAnEvent { found: "no name of an event" }),
    };
    let native = name.inspect_err(|_| {
        // An event with a tool and without a result may be a call, so it is answered as an undecided call.
        let has = |keys: &[&str]| keys.iter().any(|key| object.contains_key(*key));
        if has(&OF_A_CALL) && !has(&RESULTS) {
            let call = EventName::PreToolUse;
            caller.event = Some(call);
            sheet.native_name(call).unwrap_or(call.as_str()).clone_into(&mut caller.native_event);
        }
    })?;
    let event = sheet.event(&native);
    caller.event = event;
    rename(&mut object, sheet.fields);
    for (key, value) in COMMON {
        fill(&mut object, key, || value.into());
    }
    identify(&mut object, agent, around);
    if let Some(event) = event {
        complete(&mut object, event);
        if object.contains_key("tool_name") {
            call(&mut object, event, caller);
        }
    }
    caller.native_event = native;
    let native = caller.native_event.as_str();
    let name = event.map_or(native, |event| event.as_str());
    object.insert("hook_event_name".to_owned(), name.into());
    if name != native {
        object.insert("native_event".to_owned(), native.into());
    }
    object.insert("agent".to_owned(), agent.name().into());
    if event.is_some_and(|event| NEEDED.contains(&event)) {
        return Event::from_object(object);
    }
    // The event is not in `NEEDED`: if it cannot be read, it is recorded as an unknown event.
    Event::from_object(object.clone()).or_else(|_| {
        caller.event = None;
        let name = format!("{agent}:{}", caller.native_event);
        object.insert("hook_event_name".to_owned(), name.as_str().into());
        Ok(Event::Unknown(UnknownEvent { name, raw: object }))
    })
}

/// Gives fields our names. A field that has our name already is kept.
fn rename(object: &mut Map<String, Value>, fields: &[(&str, &str)]) {
    for (theirs, ours) in fields {
        if !object.contains_key(*ours)
            && let Some(value) = object.remove(*theirs)
        {
            object.insert((*ours).to_owned(), value);
        }
    }
}

/// Replaces fields that hold an object as JSON text by the object itself.
pub(super) fn read_texts(object: &mut Map<String, Value>, keys: [&str; 2]) {
    for key in keys {
        let text = object.get(key).and_then(Value::as_str);
        if let Some(inner) = text.and_then(|text| crate::decode::object(text.as_bytes()).ok()) {
            object.insert(key.to_owned(), inner.into());
        }
    }
}

/// Fills in a field that is absent or `null`.
fn fill(object: &mut Map<String, Value>, key: &str, value: impl FnOnce() -> Value) {
    if object.get(key).is_none_or(Value::is_null) {
        object.insert(key.to_owned(), value());
    }
}

/// Makes the session's id unique among agents and machines.
fn identify(object: &mut Map<String, Value>, agent: Agent, around: Surroundings<'_>) {
    let Some(Value::String(id)) = object.get_mut("session_id") else { return };
    if id.is_empty() {
        return;
    }
    *id = match agent {
        // A counter that starts again each day.
        Agent::Goose => format!("{agent}-{id}-{}", (around.machine)()),
        _ => format!("{agent}-{id}"),
    };
}

/// Fills in what an event of Claude Code always has.
fn complete(object: &mut Map<String, Value>, event: EventName) {
    match event {
        EventName::SessionStart => {
            fill(object, "source", || "startup".into());
            if object["source"] == "new" {
                object.insert("source".to_owned(), "startup".into());
            }
        }
        EventName::SessionEnd => fill(object, "reason", || "other".into()),
        EventName::Stop | EventName::SubagentStop => fill(object, "stop_hook_active", || false.into()),
        EventName::PreCompact => {
            fill(object, "trigger", || "auto".into());
            object.entry("custom_instructions").or_insert(Value::Null);
        }
        EventName::PostCompact => {
            fill(object, "trigger", || "auto".into());
            fill(object, "compact_summary", || "".into());
        }
        EventName::PostToolUseFailure => fill(object, "error", || "".into()),
        EventName::PostToolUse => {
            object.entry("tool_response").or_insert(Value::Null);
        }
        EventName::Notification => fill(object, "message", || "".into()),
        EventName::UserPromptSubmit => {
            // Our own text from when the agent stopped, sent back as a prompt.
            let is_ours = |prompt: &str| prompt.trim_start().starts_with(OWN_WORDS);
            if object.get("prompt").and_then(Value::as_str).is_some_and(is_ours) {
                object.insert("source".to_owned(), "system".into());
            }
        }
        _ => {}
    }
}

/// Gives a call's tool and fields our names, marks a failure that only the output shows, and derives an id.
fn call(object: &mut Map<String, Value>, event: EventName, caller: &mut Caller) {
    let Some(Value::String(native)) = object.get("tool_name") else { return };
    let native = native.clone();
    object.entry("tool_input").or_insert_with(|| Value::Object(Map::new()));
    if let Some(tool) = tools::find(&native) {
        if let Some(input) = object.get_mut("tool_input") {
            caller.renamed = tools::rename(input, tool);
        }
        if tool.ours != native {
            object.insert("tool_name".to_owned(), tool.ours.into());
            object.insert("native_tool".to_owned(), native.into());
        }
    }
    if event == EventName::PostToolUse && object.get("tool_response").is_some_and(tools::tells_of_failure) {
        fill(object, "success", || false.into());
    }
    // A permission request is matched to its call by what it asks for.
    let is_identified = event == EventName::PermissionRequest
        || object.get("tool_use_id").is_some_and(|id| !id.is_null() && id != "");
    if !is_identified {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = call_id::derive(text("session_id"), text("tool_name"), &object["tool_input"]);
        object.insert("tool_use_id".to_owned(), id.into());
        object.insert("derived".to_owned(), true.into());
    }
}
