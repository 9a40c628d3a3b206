//! Any event, told apart by its name.

use std::sync::atomic::Ordering;

use context_graph_events::Event;

use super::answer::Answer;
use super::args::EventArgs;
use super::error::HookError;
use super::flow::Road;
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
        Event::PreToolUse(_) => Ok(flow::guard(host, &args.common, incoming, Road::Fast)),
        _ => flow::answer(host, &args.common, incoming),
    }
}

/// What cannot be read may be a tool call; if it names one in either form, it waits to be decided about.
fn suspect(bytes: &[u8]) {
    let names = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    UNDECIDED.store(names("PreToolUse") || names("pre_tool_use"), Ordering::Relaxed);
}
