//! A tool has run.

use serde_json::{Value, json};

use super::answer::Answer;
use super::args::PostToolArgs;
use super::error::HookError;
use super::types::{HookEventType, HookInput, HookPayload};
use super::{Host, agree, flow, incoming, needed};

pub(super) fn answer(args: PostToolArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let incoming = incoming(&args.common, || {
        let id = needed("session-id", args.session_id.clone())?;
        let tool = needed("tool-name", args.tool_name.clone())?;
        let response = args.success.map_or(Value::Null, |success| json!({"success": success}));
        let payload = HookPayload::post_tool_use(tool, Value::Null, response, None);
        Ok(HookInput::new(HookEventType::PostToolUse, id, payload))
    })?;
    incoming.expect(HookEventType::PostToolUse)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    agree("tool-name", args.tool_name.as_deref(), incoming.event.tool_name().unwrap_or(""))?;
    flow::answer(host, &args.common, incoming)
}
