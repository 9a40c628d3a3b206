//! Goose 1.52: events with its own fields. It only reads `block`, and accepts neither context nor a changed input.

use serde_json::{Map, Value, json};

use super::render::{AgentAnswer, ReplyContent};
use super::{Caller, Sheet};
use crate::claude_code::EventName::{PreToolUse, Stop};
use crate::reply::Verb::{Block, Deny};

pub(super) static SHEET: Sheet = Sheet {
    events: &[
        ("BeforeReadFile", PreToolUse),
        ("BeforeShellExecution", PreToolUse),
        ("PreToolUse", PreToolUse),
    ],
    fields: &[("tool_call_id", "tool_use_id"), ("working_dir", "cwd"), ("message", "prompt")],
    capabilities: &[(PreToolUse, &[Deny]), (Stop, &[Block])],
    prepare,
    render,
};

/// The event before reading a file names the file but no tool.
fn prepare(object: &mut Map<String, Value>) {
    if object.get("event").and_then(Value::as_str) == Some("BeforeReadFile")
        && !object.contains_key("tool_name")
    {
        let file = object.get("matcher_context").cloned().unwrap_or(Value::Null);
        object.insert("tool_name".to_owned(), "read".into());
        object.entry("tool_input").or_insert_with(|| json!({"path": file}));
    }
}

fn render(content: &ReplyContent<'_>, _: &Caller) -> AgentAnswer {
    if content.refuses() {
        return content.refusal(json!({"decision": "block", "reason": content.reason}));
    }
    AgentAnswer::default()
}
