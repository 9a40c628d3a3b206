//! A session begins.

use super::answer::Answer;
use super::args::SessionStartArgs;
use super::error::HookError;
use super::types::{HookEventType, HookInput, HookPayload};
use super::{Host, agree, incoming};

pub(super) fn answer(args: SessionStartArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let flag_id = args.session_id.clone().filter(|id| !id.is_empty());
    let incoming = incoming(&args.common, || {
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
    if let Some(previous) = &incoming.previous_session_id {
        agree("previous-session-id", args.previous_session_id.as_deref(), previous)?;
    }
    let mut answer = Answer::nothing_to_say();
    if flag_id.is_none() && incoming.timestamp_ms.is_some() {
        answer.output.session_id = Some(incoming.event.session_id().to_owned());
    }
    Ok(answer)
}
