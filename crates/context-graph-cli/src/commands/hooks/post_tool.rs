//! A tool has run.

use context_graph_events::{CallOutcome, Event};
use serde_json::Value;

use super::answer::Answer;
use super::args::PostToolArgs;
use super::error::HookError;
use super::input::Incoming;
use super::types::{HookEventType, HookInput, HookPayload};
use super::{Host, agree, flow, incoming, needed};

pub(super) fn answer(args: PostToolArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let mut incoming = incoming(&args.common, || {
        let id = needed("session-id", args.session_id.clone())?;
        let tool = needed("tool-name", args.tool_name.clone())?;
        let payload = HookPayload::post_tool_use(tool, Value::Null, Value::Null, None);
        Ok(HookInput::new(HookEventType::PostToolUse, id, payload))
    })?;
    incoming.expect(HookEventType::PostToolUse)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    agree("tool-name", args.tool_name.as_deref(), incoming.event.tool_name().unwrap_or(""))?;
    if let Some(success) = args.success.and_then(|given| given.0) {
        take_word(&mut incoming, success)?;
    }
    flow::answer(host, &args.common, incoming)
}

/// Takes the caller's word on whether the call succeeded. It decides where stdin says nothing, and must agree where it
/// does; of a call that was interrupted either can be said.
fn take_word(incoming: &mut Incoming, success: bool) -> Result<(), HookError> {
    let Event::PostToolUse(done) = &mut incoming.event else { return Ok(()) };
    match done.stated_outcome() {
        None => {
            done.extra.insert("success".to_owned(), success.into());
            Ok(())
        }
        Some(CallOutcome::Interrupted) => Ok(()),
        Some(stated) => {
            let stated = stated == CallOutcome::Success;
            agree("success", Some(&success.to_string()), &stated.to_string())
        }
    }
}
