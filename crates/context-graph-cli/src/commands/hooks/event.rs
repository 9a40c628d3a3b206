//! Any event, told apart by its name.

use std::sync::atomic::Ordering;

use context_graph_events::Event;

use super::answer::Answer;
use super::args::EventArgs;
use super::error::HookError;
use super::{Host, UNDECIDED, expect_starvation, flow, input};
use crate::timings;

pub(super) fn answer(args: EventArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let Some(bytes) = input::read_stdin(args.common.stdin)? else {
        return Err(HookError::Usage("`hooks event` reads the event from stdin, and stdin is empty".into()));
    };
    timings::passed("read");
    let incoming = input::decode(&bytes).inspect_err(|_| suspect(&bytes))?;
    timings::passed("decode");
    UNDECIDED.store(matches!(incoming.event, Event::PreToolUse(_)), Ordering::Relaxed);
    expect_starvation();
    host.watch(incoming.event.budget_ms());
    match incoming.event {
        Event::Unknown(_) if incoming.event.session_id().is_empty() => Ok(Answer::nothing_to_say()),
        Event::PreToolUse(_) => Ok(flow::guard(host, &args.common, incoming)),
        _ => flow::answer(host, &args.common, incoming),
    }
}

/// What cannot be read may be a tool call; if it looks like one, it waits to be decided about.
fn suspect(bytes: &[u8]) {
    let looks_like_a_call = bytes.windows(10).any(|window| window == b"PreToolUse");
    UNDECIDED.store(looks_like_a_call, Ordering::Relaxed);
}
