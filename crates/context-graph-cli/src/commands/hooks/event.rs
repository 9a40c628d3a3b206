//! Any event, told apart by its name.

use std::sync::atomic::Ordering;

use context_graph_events::Event;

use super::answer::Answer;
use super::args::EventArgs;
use super::error::HookError;
use super::flow::Road;
use super::{Host, UNDECIDED, answer, expect_starvation, flow, input};
use crate::{timings, watchdog};

pub(super) fn answer(args: EventArgs, host: &Host<'_>) -> Result<Answer, HookError> {
    let Some(bytes) = input::read_stdin(args.common.stdin, suspect_early)? else {
        let why =
            if args.common.stdin == Some(false) { "--stdin=false leaves it alone" } else { "stdin is empty" };
        return Err(HookError::Usage(format!("`hooks event` reads the event from stdin, and {why}")));
    };
    timings::passed("read");
    let incoming = input::decode(&bytes).inspect_err(|_| suspect(&bytes, 0))?;
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

/// How far an event is looked at while it arrives: the client names it near the beginning, and megabytes take time.
const EARLY: usize = 1024 * 1024;

fn suspect_early(bytes: &[u8], known: usize) {
    if known < EARLY {
        suspect(bytes, known);
    }
}

/// What cannot be read, or does not all come in time, may be a tool call: if what is there names one in either form, it
/// waits to be decided about.
fn suspect(bytes: &[u8], known: usize) {
    let longest = PRE_TOOL_USE[0].len().max(PRE_TOOL_USE[1].len());
    // A name may have come in two pieces.
    let fresh = &bytes[known.saturating_sub(longest - 1)..];
    if !UNDECIDED.load(Ordering::Relaxed) && names_a_call(fresh) {
        UNDECIDED.store(true, Ordering::Relaxed);
        expect_starvation();
        watchdog::answer_instead(answer::LATE_CALL);
    }
}

/// The names of the event that asks for a decision.
const PRE_TOOL_USE: [&[u8]; 2] = [b"PreToolUse", b"pre_tool_use"];

fn names_a_call(bytes: &[u8]) -> bool {
    // Both begin with the same letter; looking for that first takes one pass.
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'P' | b'p'));
    starts.map(|(at, _)| &bytes[at..]).any(|rest| PRE_TOOL_USE.iter().any(|name| rest.starts_with(name)))
}
