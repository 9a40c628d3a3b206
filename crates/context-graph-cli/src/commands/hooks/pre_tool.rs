//! A tool is about to run. By default this uses no database, because the user waits for every call.

use context_graph_events::envelope::{HookEventType, HookInput, HookPayload};
use serde_json::Value;

use super::args::PreToolArgs;
use super::context::HookContext;
use super::error::HookError;
use super::read::{HookRequest, RecordMode, agree, from_stdin_or_flags, needed};

pub(super) fn read(args: &PreToolArgs, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let mut by_flags = false;
    let mut incoming = from_stdin_or_flags(context, || {
        by_flags = true;
        let id = needed("session-id", args.session_id.clone())?;
        let tool = needed("tool-name", args.tool_name.clone())?;
        Ok(HookInput::with_timestamp(
            HookEventType::PreToolUse,
            id,
            context.now_ms(),
            HookPayload::pre_tool_use(tool, Value::Null, None),
        ))
    })?;
    incoming.input_unseen = by_flags;
    incoming.must_be(HookEventType::PreToolUse)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    agree("tool-name", args.tool_name.as_deref(), incoming.event.tool_name().unwrap_or(""))?;
    let record_mode = if args.fast_path { RecordMode::Append } else { RecordMode::Step };
    Ok(HookRequest { record_mode, ..incoming.into() })
}
