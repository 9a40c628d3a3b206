//! Any event, told apart by its name.

use context_graph_events::claude_code::PreCompactReply;
use context_graph_events::{Event, HookReply};

use super::Host;
use super::answer::Answer;
use super::args::EventArgs;
use super::error::HookError;
use super::input;

pub(super) fn answer(args: EventArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let Some(bytes) = input::read_stdin(args.common.stdin)? else {
        return Err(HookError::Usage("`hooks event` reads the event from stdin, and stdin is empty".into()));
    };
    let incoming = input::decode(&bytes)?;
    host.watch(incoming.event.budget_ms());
    Ok(match incoming.event {
        Event::PreCompact(_) => Answer::with_reply(PreCompactReply::none().into_body()),
        _ => Answer::nothing_to_say(),
    })
}
