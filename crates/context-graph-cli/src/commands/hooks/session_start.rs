//! A session begins.

use super::answer::Answer;
use super::args::SessionStartArgs;
use super::error::HookError;
use super::types::{HookEventType, HookInput, HookPayload};
use super::{Host, agree, flow, incoming};

pub(super) fn answer(args: SessionStartArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let flag_id = args.session_id.clone().filter(|id| !id.is_empty());
    let mut from_flags = false;
    let mut incoming = incoming(&args.common, || {
        from_flags = true;
        let id = flag_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let folder = host.environment.project_dir.as_ref().unwrap_or(&host.environment.current_dir);
        let payload = HookPayload::session_start(
            folder.to_string_lossy(),
            "startup",
            args.previous_session_id.clone().filter(|id| !id.is_empty()),
        );
        Ok(HookInput::new(HookEventType::SessionStart, id, payload))
    })?;
    incoming.expect(HookEventType::SessionStart)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    let named = args.previous_session_id.filter(|id| !id.is_empty());
    if let Some(previous) = &incoming.previous_session_id {
        agree("previous-session-id", named.as_deref(), previous)?;
    }
    incoming.previous_session_id = incoming.previous_session_id.or(named);
    let made_up = flag_id.is_none() && from_flags;
    let id = incoming.event.session_id().to_owned();
    let mut answer = flow::answer(host, &args.common, incoming)?;
    answer.output.session_id = made_up.then_some(id);
    Ok(answer)
}
