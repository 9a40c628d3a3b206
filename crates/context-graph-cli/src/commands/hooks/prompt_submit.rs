//! A prompt arrives.

use context_graph_events::Event;
use context_graph_events::envelope::{HookEventType, HookInput, HookPayload};

use super::args::PromptSubmitArgs;
use super::context::HookContext;
use super::error::HookError;
use super::read::{HookRequest, agree, from_stdin_or_flags, needed};

pub(super) fn read(args: &PromptSubmitArgs, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let incoming = from_stdin_or_flags(context, || {
        let id = needed("session-id", args.session_id.clone())?;
        let prompt = needed("prompt", args.prompt.clone())?;
        Ok(HookInput::with_timestamp(
            HookEventType::UserPromptSubmit,
            id,
            context.now_ms(),
            HookPayload::user_prompt(prompt, None),
        ))
    })?;
    incoming.must_be(HookEventType::UserPromptSubmit)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    if let Event::UserPromptSubmit(payload) = &incoming.event {
        // A shell's `$(…)` removes line breaks at the end.
        let flag = args.prompt.as_deref().map(|text| text.trim_end_matches('\n'));
        agree("prompt", flag, payload.prompt.trim_end_matches('\n'))?;
    }
    Ok(incoming.into())
}
