//! Gemini CLI 0.61: its own events. Its stdout takes precedence over the exit code, Claude Code's fields are ignored,
//! a changed input replaces the whole input, and a question hangs forever if no user is present.

use serde_json::{Map, Value, json};

use super::render::{AgentAnswer, ReplyContent};
use super::{Caller, Sheet};
use crate::claude_code::EventName::{
    Notification, PostToolUse, PreCompact, PreToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Block, Deny, Modify};

pub(super) static SHEET: Sheet = Sheet {
    events: &[
        ("BeforeTool", PreToolUse),
        ("AfterTool", PostToolUse),
        ("BeforeAgent", UserPromptSubmit),
        ("AfterAgent", Stop),
        ("PreCompress", PreCompact),
        ("SessionStart", SessionStart),
        ("SessionEnd", SessionEnd),
        ("Notification", Notification),
    ],
    fields: &[("prompt_response", "last_assistant_message")],
    capabilities: &[
        (PreToolUse, &[Deny, Modify]),
        (PostToolUse, &[Block, AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (Stop, &[Block]),
    ],
    prepare,
    render,
};

/// A tool of a server is named `mcp_server_tool`, which does not show where the server's name ends.
fn prepare(object: &mut Map<String, Value>) {
    let part = |key: &str| object.get("mcp_context")?.get(key)?.as_str();
    if let (Some(server), Some(tool)) = (part("server_name"), part("tool_name")) {
        let name = format!("mcp__{server}__{tool}");
        object.insert("tool_name".to_owned(), name.into());
    }
}

fn render(content: &ReplyContent<'_>, _: &Caller) -> AgentAnswer {
    let mut object = Map::new();
    if content.refuses() {
        object.insert("decision".into(), "deny".into());
        object.insert("reason".into(), content.reason.as_str().into());
    }
    let mut specific = Map::new();
    if let Some(input) = &content.input {
        specific.insert("tool_input".into(), Value::Object(input.clone()));
    }
    if let Some(context) = content.context {
        specific.insert("additionalContext".into(), context.into());
    }
    if let Some(message) = content.message {
        object.insert("systemMessage".into(), message.into());
    }
    if !specific.is_empty() {
        object.insert("hookSpecificOutput".into(), specific.into());
    }
    if content.refuses() { content.refusal(json!(object)) } else { ReplyContent::success(json!(object)) }
}
