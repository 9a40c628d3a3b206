//! Qwen Code 0.24: Claude Code's event names and reply. It ignores a changed input and runs the original, ignores
//! context before a call, and treats "ask" as a refusal unless a user is present.

use serde_json::{Map, Value};

use super::Sheet;
use super::render::like_claude;
use crate::claude_code::EventName::{
    PermissionRequest, PostToolBatch, PostToolUse, PreToolUse, SessionStart, Stop, SubagentStop,
    UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Allow, Block, Deny};

pub(super) static SHEET: Sheet = Sheet {
    events: &[],
    // Its background tasks have other fields than Claude Code's.
    fields: &[("background_tasks", "native_background_tasks")],
    capabilities: &[
        (PreToolUse, &[Deny, Allow]),
        (PermissionRequest, &[Deny]),
        (PostToolUse, &[AddContext]),
        (PostToolBatch, &[AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (Stop, &[Block]),
        (SubagentStop, &[Block]),
    ],
    prepare,
    render: like_claude,
};

/// Its batches identify calls by the provider's id, so we use that id for every event about a call.
fn prepare(object: &mut Map<String, Value>) {
    if let Some(id) = object.get("tool_call_id").filter(|id| id.is_string()).cloned() {
        object.insert("tool_use_id".to_owned(), id);
    }
}
