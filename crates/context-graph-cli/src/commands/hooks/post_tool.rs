//! A tool has run.

use context_graph_events::envelope::{HookEventType, HookInput, HookPayload};
use context_graph_events::{Event, Outcome};
use serde_json::{Value, json};

use super::args::PostToolArgs;
use super::context::HookContext;
use super::error::HookError;
use super::input::Incoming;
use super::read::{HookRequest, agree, from_stdin_or_flags, needed};

pub(super) fn read(args: &PostToolArgs, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let mut incoming = from_stdin_or_flags(context, || {
        let id = needed("session-id", args.session_id.clone())?;
        let tool = needed("tool-name", args.tool_name.clone())?;
        let payload = HookPayload::post_tool_use(tool, Value::Null, Value::Null, None);
        Ok(HookInput::with_timestamp(HookEventType::PostToolUse, id, context.now_ms(), payload))
    })?;
    incoming.must_be(HookEventType::PostToolUse)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    agree("tool-name", args.tool_name.as_deref(), incoming.event.tool_name().unwrap_or(""))?;
    let success = args.success.and_then(|given| given.0);
    let disagreement = success.and_then(|success| apply_success_flag(&mut incoming, success));
    Ok(HookRequest { disagreement, ..incoming.into() })
}

/// Applies the flag that says whether the call succeeded. It counts only if stdin does not say. If they
/// disagree, stdin wins, because scripts derive the flag from a part of it.
fn apply_success_flag(incoming: &mut Incoming, success: bool) -> Option<HookError> {
    let Event::PostToolUse(done) = &mut incoming.event else { return None };
    let Some(stated) = done.stated_outcome() else {
        done.extra.insert("success".to_owned(), success.into());
        // Policies look for success in the response.
        if done.tool_response.is_null() {
            done.tool_response = json!({"success": success});
        }
        return None;
    };
    let stdin = match stated {
        Outcome::Success => "true",
        Outcome::Failure => "false",
        Outcome::Interrupted if success => "interrupted",
        _ => return None,
    };
    (stdin != success.to_string()).then(|| {
        HookError::Contradicted(format!(
            "--success is `{success}`, but stdin says `{stdin}`: the call is on record as stdin tells it; leave the \
             flag out or make them agree"
        ))
    })
}
