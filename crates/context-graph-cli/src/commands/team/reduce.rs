//! A record without texts: the form that `share = "metadata"` sends.

use context_graph_core::session::{EventRecord, Ruling};
use serde_json::{Map, Value};

/// Fields whose texts come from the client, not from people or repositories.
const KEPT: [&str; 13] = [
    "agent_id",
    "agent_type",
    "from_model",
    "hook_event_name",
    "model",
    "permission_mode",
    "prompt_id",
    "session_id",
    "source",
    "to_model",
    "tool_name",
    "tool_use_id",
    "trigger",
];
/// Fields of an MCP server whose texts are also kept: the user chose them in the client's configuration.
const KEPT_OF_SERVER: [&str; 2] = ["name", "version"];
/// Fields of an event or of a tool's input that contain a path.
const PATHS: [&str; 6] = ["directory", "filePath", "file_path", "filename", "notebook_path", "path"];

/// Fields of a tool's response that tell how the call ended. The names of other fields may themselves be texts,
/// such as names of files or people.
const SWITCHES: [&str; 4] = ["interrupted", "isError", "is_error", "success"];

/// The record without texts. Paths are replaced by their `fingerprint`.
pub(super) fn reduce(record: &EventRecord, fingerprint: &dyn Fn(&str) -> String) -> EventRecord {
    let payload = match serde_json::from_str(&record.payload) {
        Ok(Value::Object(object)) => Value::Object(event(object, fingerprint)).to_string(),
        _ => String::new(),
    };
    EventRecord {
        at_ms: record.at_ms,
        tool_use_id: record.tool_use_id.clone(),
        payload,
        took_us: record.took_us,
        link: None,
        ruling: record.ruling.as_ref().map(|ruling| Ruling { reason: String::new(), ..ruling.clone() }),
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    }
}

fn event(object: Map<String, Value>, fingerprint: &dyn Fn(&str) -> String) -> Map<String, Value> {
    let is_end = object.get("hook_event_name").and_then(Value::as_str) == Some("SessionEnd");
    let reduced = object.into_iter().filter(|(name, _)| is_of_protocol(name)).map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("tool_input", value) => input(value, fingerprint),
            ("tool_response", value) => switches(value),
            ("tool_calls", Value::Array(calls)) => {
                calls.into_iter().map(|call| part(call, fingerprint)).collect()
            }
            ("mcp_server", Value::Object(server)) => Value::Object(of_server(server)),
            // At a session's end these are one of a few words; elsewhere, they are sentences.
            ("reason" | "status", Value::String(text)) if is_end && is_word(&text) => text.into(),
            (name, value @ Value::String(_)) if KEPT.contains(&name) => value,
            (name, Value::String(text)) if PATHS.contains(&name) => fingerprint(&text).into(),
            (_, value) => emptied(value),
        };
        (name, value)
    });
    reduced.collect()
}

/// Whether the name of a field looks like a part of a protocol and not like a text.
fn is_of_protocol(name: &str) -> bool {
    name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a text can be a word of the protocol.
fn is_word(text: &str) -> bool {
    text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn of_server(server: Map<String, Value>) -> Map<String, Value> {
    let protocol = server.into_iter().filter(|(name, _)| is_of_protocol(name));
    let is_kept = |name: &str, value: &Value| {
        value.is_string() && (KEPT_OF_SERVER.contains(&name) || KEPT.contains(&name))
    };
    protocol
        .map(|(name, value)| if is_kept(&name, &value) { (name, value) } else { (name, emptied(value)) })
        .collect()
}

/// A call in a batch.
fn part(call: Value, fingerprint: &dyn Fn(&str) -> String) -> Value {
    match call {
        Value::Object(call) => Value::Object(event(call, fingerprint)),
        other => emptied(other),
    }
}

/// Keeps only the paths of a tool's input.
fn input(value: Value, fingerprint: &dyn Fn(&str) -> String) -> Value {
    let Value::Object(fields) = value else { return emptied(value) };
    let paths = fields.into_iter().filter_map(|(name, value)| match value {
        Value::String(path) if PATHS.contains(&name.as_str()) => Some((name, fingerprint(&path).into())),
        _ => None,
    });
    Value::Object(paths.collect())
}

/// Keeps only the true and false values of a tool's response that tell how the call ended.
fn switches(value: Value) -> Value {
    let Value::Object(fields) = value else { return emptied(value) };
    let kept = |(name, value): &(String, Value)| value.is_boolean() && SWITCHES.contains(&name.as_str());
    Value::Object(fields.into_iter().filter(kept).collect())
}

/// An empty value of the same type.
fn emptied(value: Value) -> Value {
    match value {
        Value::String(_) => Value::String(String::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reduced(payload: Value) -> String {
        let record = EventRecord {
            at_ms: 5,
            tool_use_id: Some("t1".into()),
            payload: payload.to_string(),
            took_us: 7,
            link: None,
            ruling: Some(Ruling {
                verdict: "deny".into(),
                rules: vec!["a/b".into()],
                reason: "because SECRET".into(),
            }),
            updated_input: Some("SECRET".into()),
            cuts: Vec::new(),
            remembered: Vec::new(),
        };
        let reduced = reduce(&record, &|path| format!("#{}", path.len()));
        format!("{reduced:?}")
    }

    #[test]
    fn names_that_people_choose_are_texts() {
        let text = reduced(json!({
            "hook_event_name": "WorktreeCreate", "session_id": "s", "name": "SECRET", "status": "SECRET", "reason": "SECRET",
            "mcp_server": {"name": "search", "version": "2", "command": "SECRET", "source": {"SECRET": "SECRET"}},
        }));
        assert!(!text.contains("SECRET") && text.contains("search"), "{text}");
    }

    #[test]
    fn the_end_of_a_session_keeps_words_only() {
        let end = |reason: Value, status: Value| {
            reduced(
                json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": reason, "status": status}),
            )
        };
        let words = end(json!("prompt_input_exit"), json!("timed-out"));
        assert!(words.contains("prompt_input_exit") && words.contains("timed-out"), "{words}");
        for text in [json!("the SECRET"), json!({"SECRET": 1}), json!(["SECRET"]), json!("SECRET".repeat(7))]
        {
            let left = end(text.clone(), text);
            assert!(!left.contains("SECRET"), "{left}");
        }
    }

    #[test]
    fn no_text_is_left_and_the_event_can_still_be_read() {
        let text = reduced(json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "/SECRET", "cwd": "/SECRET",
            "permission_mode": "default", "tool_name": "Edit", "tool_use_id": "t1", "duration_ms": 12,
            "tool_input": {"file_path": "/SECRET", "old_string": "SECRET", "nested": {"path": "SECRET"}},
            "tool_response": {"interrupted": true, "stdout": "SECRET", "SECRET": ["SECRET"], "src/SECRET.rs": true, "SECRET_2": false},
            "src/SECRET.rs": 1, "status": {"SECRET": "SECRET"}, "name": ["SECRET"],
            "prompt": "SECRET", "anything": {"SECRET": "SECRET"}, "reason": "SECRET", "list": ["SECRET"],
            "tool_calls": [{"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "SECRET"}, "tool_response": "SECRET"}],
        }));
        assert!(!text.contains("SECRET"), "{text}");
        for kept in ["PostToolUse", "Edit", "t1", "t2", "Bash", "interrupted", "12", "default", "#7"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }
}
