//! Cline CLI 3.0: it cannot refuse a single call. It can only let the call run or end the whole run with `cancel`.
//! For a refusal we use `cancel`, which is stricter.

use serde_json::{Map, Value};

use super::render::{AgentAnswer, ReplyContent};
use super::{Caller, Sheet};
use crate::claude_code::EventName::{
    PostToolUse, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Halt};

pub(super) static SHEET: Sheet = Sheet {
    events: &[
        ("tool_call", PreToolUse),
        ("PreToolUse", PreToolUse),
        ("tool_result", PostToolUse),
        ("PostToolUse", PostToolUse),
        ("agent_start", SessionStart),
        ("agent_end", Stop),
        ("session_shutdown", SessionEnd),
        ("UserPromptSubmit", UserPromptSubmit),
        ("PreCompact", PreCompact),
    ],
    fields: &[("taskId", "session_id")],
    capabilities: &[(PreToolUse, &[Halt, AddContext]), (PostToolUse, &[AddContext])],
    prepare,
    render,
};

/// Takes the call out of the object that it is nested in.
fn prepare(object: &mut Map<String, Value>) {
    for key in ["tool_call", "tool_result"] {
        let Some(Value::Object(call)) = object.remove(key) else { continue };
        for (theirs, ours) in [
            ("id", "tool_use_id"),
            ("name", "tool_name"),
            ("input", "tool_input"),
            ("output", "tool_response"),
        ] {
            if let Some(value) = call.get(theirs) {
                object.insert(ours.to_owned(), value.clone());
            }
        }
    }
    // Cline sends `agent_id` for the main thread too. For us the field means a subagent.
    if object.get("parent_agent_id").is_none_or(Value::is_null) {
        object.remove("agent_id");
    }
    let root = object.get("workspaceRoots").and_then(|roots| roots.get(0)).filter(|root| root.is_string());
    if let Some(root) = root.cloned() {
        object.entry("cwd").or_insert(root);
    }
}

fn render(content: &ReplyContent<'_>, _: &Caller) -> AgentAnswer {
    let mut object = Map::new();
    if content.refuses() {
        object.insert("cancel".to_owned(), true.into());
        object.insert("errorMessage".to_owned(), content.reason.as_str().into());
        return content.refusal(object.into());
    }
    if let Some(context) = content.context {
        object.insert("contextModification".to_owned(), context.into());
    }
    ReplyContent::success(object.into())
}
