//! Copilot CLI 1.0 and VS Code: two dialects, chosen by how the registration spells the event. The older one has no
//! event names in its payloads. Both read fields beside `hookSpecificOutput`, and only one reads those in it, so each
//! reply has both.

use serde_json::{Map, Value};

use super::read::read_texts;
use super::render::{AgentAnswer, ReplyContent};
use super::{Caller, Sheet};
use crate::claude_code::EventName::{
    Notification, PermissionRequest, PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, SessionEnd,
    SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Allow, Ask, Block, Deny, Modify};

pub(super) static SHEET: Sheet = Sheet {
    events: &[
        ("preToolUse", PreToolUse),
        ("postToolUse", PostToolUse),
        ("postToolUseFailure", PostToolUseFailure),
        ("permissionRequest", PermissionRequest),
        ("userPromptSubmitted", UserPromptSubmit),
        ("sessionStart", SessionStart),
        ("sessionEnd", SessionEnd),
        ("agentStop", Stop),
        ("subagentStart", SubagentStart),
        ("subagentStop", SubagentStop),
        ("preCompact", PreCompact),
        ("notification", Notification),
    ],
    fields: &[
        ("sessionId", "session_id"),
        ("toolName", "tool_name"),
        ("toolArgs", "tool_input"),
        ("toolInput", "tool_input"),
        ("toolUseId", "tool_use_id"),
        ("toolResult", "tool_response"),
        ("tool_result", "tool_response"),
        ("transcriptPath", "transcript_path"),
        ("customInstructions", "custom_instructions"),
        ("agentId", "agent_id"),
        ("agentType", "agent_type"),
        ("response", "last_assistant_message"),
    ],
    capabilities: &[
        (PreToolUse, &[Deny, Ask, Modify, Allow, AddContext]),
        (PostToolUse, &[Block, AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (Stop, &[Block]),
        (SubagentStop, &[Block]),
    ],
    prepare,
    render,
};

/// Fields that identify an event without a name; the first match counts. An event with a tool and without a result is
/// a call.
const TOLD_BY: [(&str, &str); 15] = [
    ("toolResult", "postToolUse"),
    ("tool_result", "postToolUse"),
    ("errorContext", "errorOccurred"),
    ("error", "postToolUseFailure"),
    ("toolName", "preToolUse"),
    ("toolArgs", "preToolUse"),
    ("toolInput", "preToolUse"),
    ("tool_name", "preToolUse"),
    ("transformedPrompt", "userPromptTransformed"),
    ("prompt", "userPromptSubmitted"),
    ("trigger", "preCompact"),
    ("source", "sessionStart"),
    ("initialPrompt", "sessionStart"),
    ("reason", "sessionEnd"),
    ("message", "notification"),
];

fn prepare(object: &mut Map<String, Value>) {
    let named = ["hook_event_name", "hookEventName", "hookName"].iter().any(|key| object.contains_key(*key));
    if !named {
        let is_agents = object.contains_key("agentId") || object.contains_key("agent_id");
        let native = match (is_agents, object.contains_key("stopReason")) {
            (true, true) => "subagentStop",
            (false, true) => "agentStop",
            (true, false) if !object.contains_key("toolName") => "subagentStart",
            _ => TOLD_BY
                .iter()
                .find(|(key, _)| object.contains_key(*key))
                .map_or("unknown", |(_, event)| event),
        };
        object.insert("hook_event_name".to_owned(), native.into());
    }
    read_texts(object, ["toolArgs", "toolInput"]);
}

fn render(content: &ReplyContent<'_>, caller: &Caller) -> AgentAnswer {
    let Some(event) = caller.event else { return AgentAnswer::default() };
    let Value::Object(mut object) = content.claude_shaped(event) else { return AgentAnswer::default() };
    let nested = object.get("hookSpecificOutput").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in ["permissionDecision", "permissionDecisionReason", "additionalContext"] {
        if let Some(value) = nested.get(key) {
            object.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(input) = &content.input {
        object.insert("modifiedArgs".to_owned(), Value::Object(input.clone()));
    }
    if event == PostToolUse && content.refuses() {
        let result = serde_json::json!({"resultType": "failure", "textResultForLlm": content.reason});
        object.insert("modifiedResult".to_owned(), result);
    }
    // At other events an exit code does not refuse, and the object with the refusal would be ignored.
    if content.refuses() && event == PreToolUse {
        content.refusal(object.into())
    } else {
        ReplyContent::success(object.into())
    }
}
