//! A session ends.

use context_graph_events::Event;
use context_graph_events::envelope::{HookEventType, HookInput, HookPayload};

use super::args::SessionEndArgs;
use super::context::HookContext;
use super::error::HookError;
use super::read::{HookRequest, agree, from_stdin_or_flags, needed};

pub(super) fn read(args: &SessionEndArgs, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    // Scripts pass 0 if they did not find a duration.
    let flag = args.duration_ms.and_then(|given| given.0).filter(|duration| *duration != 0);
    let mut incoming = from_stdin_or_flags(context, || {
        let id = needed("session-id", args.session_id.clone())?;
        let payload = HookPayload::session_end(flag.unwrap_or(0), "exit");
        Ok(HookInput::with_timestamp(HookEventType::SessionEnd, id, context.now_ms(), payload))
    })?;
    incoming.must_be(HookEventType::SessionEnd)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    if let (Some(flag), Event::SessionEnd(end)) = (flag, &mut incoming.event) {
        match end.duration_ms() {
            Some(stdin) => agree("duration-ms", Some(&flag.to_string()), &stdin.to_string())?,
            None => {
                end.extra.insert("duration_ms".to_owned(), flag.into());
            }
        }
    }
    Ok(HookRequest { returns_summary: args.generate_summary, ..incoming.into() })
}
