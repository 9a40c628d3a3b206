//! A session ends.

use context_graph_events::Event;

use super::answer::Answer;
use super::args::SessionEndArgs;
use super::error::HookError;
use super::types::{HookEventType, HookInput, HookPayload};
use super::{Host, agree, flow, incoming, needed};

pub(super) fn answer(args: SessionEndArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    // Scripts pass 0 for a duration that they did not find.
    let flag = args.duration_ms.and_then(|given| given.0).filter(|duration| *duration != 0);
    let mut incoming = incoming(&args.common, || {
        let id = needed("session-id", args.session_id.clone())?;
        let payload = HookPayload::session_end(flag.unwrap_or(0), "exit");
        Ok(HookInput::new(HookEventType::SessionEnd, id, payload))
    })?;
    incoming.expect(HookEventType::SessionEnd)?;
    agree("session-id", args.session_id.as_deref(), incoming.event.session_id())?;
    if let (Some(flag), Event::SessionEnd(end)) = (flag, &mut incoming.event) {
        match end.duration_ms() {
            Some(stdin) => agree("duration-ms", Some(&flag.to_string()), &stdin.to_string())?,
            None => {
                end.extra.insert("duration_ms".to_owned(), flag.into());
            }
        }
    }
    let mut answer = flow::answer(host, &args.common, incoming)?;
    if !args.generate_summary {
        answer.output.session_summary = None;
    }
    Ok(answer)
}
