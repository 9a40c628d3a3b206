//! JSON Schemas of our own formats: the envelope and the answer.

use context_graph_events::claude_code::SessionEndStatus;
use context_graph_events::envelope::HookEventType;
use context_graph_events::fields::FieldType;
use context_graph_events::schema::ObjectSchema;
use serde_json::{Value, json};

use crate::error_code::ErrorCode;

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

fn published(mut schema: Value, title: &str) -> Value {
    schema["$schema"] = json!(DRAFT);
    schema["title"] = json!(title);
    schema
}

/// The object that every hook prints.
pub fn hook_output() -> Value {
    let share = || json!({"type": "number", "minimum": 0, "maximum": 1});
    let mut state = ObjectSchema::new();
    for key in ["consciousness", "integration", "reflection", "differentiation", "identity_continuity"] {
        state.required(key, share());
    }
    state.required("johari_quadrant", json!({"enum": ["open", "blind", "hidden", "unknown"]}));
    let mut classification = ObjectSchema::new();
    classification.required("value", share());
    classification.required("level", json!({"enum": ["healthy", "normal", "warning", "critical"]}));
    classification.required("crisis_triggered", bool::schema());

    let mut output = ObjectSchema::new();
    output.required("success", bool::schema());
    output.required("execution_time_ms", u64::schema());
    output.optional("error", String::schema());
    output.optional("error_code", json!({"enum": ErrorCode::ALL.map(ErrorCode::as_str)}));
    output.optional("consciousness_state", state.finish());
    output.optional("ic_classification", classification.finish());
    output.optional("context_injection", String::schema());
    output.optional("session_id", String::schema());
    let mut ruling = ObjectSchema::new();
    ruling
        .required("verdict", json!({"enum": ["halt", "deny", "block", "ask", "modify", "allow", "dropped"]}));
    ruling.required("rules", Vec::<String>::schema());
    ruling.required("reason", String::schema());
    output.optional("ruling", ruling.finish());
    output.optional("session_summary", String::schema());
    output.optional("notices", Vec::<String>::schema());
    published(output.finish(), "What a hook of context-graph prints, beside the client's own fields")
}

/// The envelope that may be sent instead of the client's own payload.
pub fn hook_input() -> Value {
    let optional_text = || json!({"type": ["string", "null"]});
    let data = |kind: HookEventType| {
        let mut data = ObjectSchema::new();
        match kind {
            HookEventType::SessionStart => {
                data.required("cwd", String::schema());
                data.required("source", String::schema());
                data.optional("previous_session_id", optional_text());
            }
            HookEventType::PreToolUse | HookEventType::PostToolUse => {
                data.required("tool_name", String::schema());
                data.required("tool_input", Value::schema());
                data.optional("tool_use_id", optional_text());
                if kind == HookEventType::PostToolUse {
                    data.required("tool_response", Value::schema());
                    data.optional("error", optional_text());
                    data.optional("duration_ms", json!({"type": ["integer", "null"], "minimum": 0}));
                }
            }
            HookEventType::UserPromptSubmit => {
                let mut message = ObjectSchema::new();
                message.required("role", String::schema());
                message.required("content", String::schema());
                data.required("prompt", String::schema());
                data.optional("context", json!({"type": ["array", "null"], "items": message.finish()}));
            }
            HookEventType::SessionEnd => {
                data.required("duration_ms", u64::schema());
                data.required("status", json!({"enum": SessionEndStatus::ALL.map(SessionEndStatus::as_str)}));
                data.required("reason", String::schema());
            }
        }
        data.finish()
    };
    let kinds: Vec<Value> = HookEventType::ALL
        .iter()
        .map(|kind| {
            let mut payload = ObjectSchema::new();
            payload.required("type", json!({"const": kind.as_str()}));
            payload.required("data", data(*kind));
            json!({"properties": {"hook_type": {"const": kind.as_str()}, "payload": payload.finish()}})
        })
        .collect();
    let mut input = ObjectSchema::new();
    input.required("hook_type", json!({"enum": HookEventType::ALL.map(HookEventType::as_str)}));
    input.required("session_id", json!({"type": "string", "minLength": 1}));
    input.required("timestamp_ms", json!({"type": "integer", "minimum": 1}));
    input.required("payload", json!({"type": "object"}));
    for key in ["transcript_path", "cwd", "permission_mode"] {
        input.optional(key, optional_text());
    }
    let mut schema = input.finish();
    schema["oneOf"] = json!(kinds);
    published(schema, "The envelope form of a hook event")
}
