//! Cursor (SDK 1.0): its own events. It reads JSON with exit code 0. If an event asks for permission, an empty answer
//! lets the call run, or blocks it if the registration fails closed.

use serde_json::{Map, Value, json};

use super::read::read_texts;
use super::render::{AgentAnswer, ReplyContent};
use super::{Caller, Sheet};
use crate::claude_code::EventName::{
    PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart,
    SubagentStop, UserPromptSubmit,
};
use crate::reply::Verb::{self, AddContext, Allow, Block, Deny, Modify};

pub(super) static SHEET: Sheet = Sheet {
    events: &[
        ("preToolUse", PreToolUse),
        ("beforeShellExecution", PreToolUse),
        ("beforeMCPExecution", PreToolUse),
        ("beforeReadFile", PreToolUse),
        ("beforeTabFileRead", PreToolUse),
        ("postToolUse", PostToolUse),
        ("postToolUseFailure", PostToolUseFailure),
        ("beforeSubmitPrompt", UserPromptSubmit),
        ("sessionStart", SessionStart),
        ("sessionEnd", SessionEnd),
        ("preCompact", PreCompact),
        ("stop", Stop),
        ("subagentStart", SubagentStart),
        ("subagentStop", SubagentStop),
    ],
    fields: &[
        ("conversation_id", "session_id"),
        ("tool_output", "tool_response"),
        ("duration", "duration_ms"),
        ("error_message", "error"),
        ("subagent_id", "agent_id"),
        ("subagent_type", "agent_type"),
        ("generation_id", "prompt_id"),
    ],
    capabilities: &[
        (PreToolUse, &[Deny, Modify, Allow, AddContext]),
        (PostToolUse, &[AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (Stop, &[Block]),
    ],
    prepare,
    render,
};

/// What the events before one kind of call honour.
pub(super) const STEP: &[Verb] = &[Deny, Allow];

/// Converts events before one kind of call into calls, and JSON texts into objects.
fn prepare(object: &mut Map<String, Value>) {
    read_texts(object, ["tool_input", "tool_output"]);
    let name = object.get("hook_event_name").and_then(Value::as_str).unwrap_or("").to_owned();
    let call = match name.as_str() {
        "beforeShellExecution" => Some(("Shell", "command")),
        "beforeReadFile" | "beforeTabFileRead" => Some(("Read", "file_path")),
        _ => None,
    };
    if let Some((tool, field)) = call {
        // A missing field stays missing: then the call is unreadable and is answered as an undecided call.
        if let Some(value) = object.remove(field) {
            object.insert("tool_name".to_owned(), tool.into());
            object.insert("tool_input".to_owned(), json!({field: value}));
        }
        // The whole file is not recorded.
        object.remove("content");
    }
    if name == "beforeMCPExecution"
        && let (Some(Value::String(server)), Some(Value::String(tool))) =
            (object.get("mcp_server_name"), object.get("tool_name"))
    {
        let named = format!("mcp__{server}__{tool}");
        object.insert("tool_name".to_owned(), named.into());
    }
    if name == "stop" && object.get("loop_count").and_then(Value::as_u64).is_some_and(|count| count > 0) {
        object.insert("stop_hook_active".to_owned(), true.into());
    }
}

fn render(content: &ReplyContent<'_>, caller: &Caller) -> AgentAnswer {
    let Some(event) = caller.event else { return AgentAnswer::default() };
    let mut object = Map::new();
    let mut set = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    match event {
        PreToolUse => {
            set("permission", if content.refuses() { "deny" } else { "allow" }.into());
            if content.refuses() {
                set("user_message", content.reason.as_str().into());
                set("agent_message", content.reason.as_str().into());
            }
            if let Some(input) = &content.input {
                set("updated_input", Value::Object(input.clone()));
            }
        }
        UserPromptSubmit => {
            set("continue", (!content.refuses()).into());
            if content.refuses() {
                set("user_message", content.reason.as_str().into());
            }
        }
        Stop if content.refuses() => set("followup_message", content.reason.as_str().into()),
        _ => {}
    }
    if let Some(context) = content.context {
        set("additional_context", context.into());
    }
    if let (Some(message), false) = (content.message, object.contains_key("user_message")) {
        object.insert("user_message".to_owned(), message.into());
    }
    ReplyContent::success(object.into())
}
