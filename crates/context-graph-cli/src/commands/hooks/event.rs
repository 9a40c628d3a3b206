//! Any event, told apart by its name.

use context_graph_events::Event;

use super::answer::Answer;
use super::args::EventArgs;
use super::error::HookError;
use super::{Host, flow, input};

pub(super) fn answer(args: EventArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let Some(bytes) = input::read_stdin(args.common.stdin)? else {
        return Err(HookError::Usage("`hooks event` reads the event from stdin, and stdin is empty".into()));
    };
    let incoming = input::decode(&bytes)?;
    host.watch(incoming.event.budget_ms());
    match incoming.event {
        Event::Unknown(_) if incoming.event.session_id().is_empty() => Ok(Answer::nothing_to_say()),
        Event::PreToolUse(_) => flow::remember(host, &args.common, incoming),
        _ => flow::answer(host, &args.common, incoming),
    }
}
