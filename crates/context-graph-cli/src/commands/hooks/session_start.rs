//! A session begins.

use context_graph_events::envelope::{HookEventType, HookInput, HookPayload};

use super::args::SessionStartArgs;
use super::context::HookContext;
use super::error::HookError;
use super::read::{HookRequest, agree, from_stdin_or_flags};

pub(super) fn read(args: SessionStartArgs, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let flag_id = args.session_id.clone().filter(|id| !id.is_empty());
    let mut from_flags = false;
    let mut incoming = from_stdin_or_flags(context, || {
        from_flags = true;
        let id = flag_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let environment = context.environment;
        let folder = environment.project_dir.as_ref().unwrap_or(&environment.current_dir);
        let payload = HookPayload::session_start(
            folder.to_string_lossy(),
            "startup",
            args.previous_session_id.clone().filter(|id| !id.is_empty()),
        );
        Ok(HookInput::with_timestamp(HookEventType::SessionStart, id, context.now_ms(), payload))
    })?;
    incoming.must_be(HookEventType::SessionStart)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    let named = args.previous_session_id.filter(|id| !id.is_empty());
    if let Some(previous) = &incoming.previous_session_id {
        agree("previous-session-id", named.as_deref(), previous)?;
    }
    incoming.previous_session_id = incoming.previous_session_id.or(named);
    Ok(HookRequest { returns_id: flag_id.is_none() && from_flags, ..incoming.into() })
}
