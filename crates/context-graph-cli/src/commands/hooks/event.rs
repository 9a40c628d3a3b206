//! Any event, told apart by its name.

use context_graph_events::Event;

use super::budget;
use super::context::HookContext;
use super::error::HookError;
use super::input;
use super::read::{Heard, Road};

pub(super) fn read(context: &HookContext<'_>) -> Result<Heard, HookError> {
    let arrived = |bytes: &[u8], known: usize| {
        if known < EARLY {
            suspect(context, bytes, known);
        }
    };
    let Some(bytes) = input::read_stdin(context.args.stdin, arrived)? else {
        let why = if context.args.stdin == Some(false) {
            "--stdin=false leaves it alone"
        } else {
            "stdin is empty"
        };
        return Err(HookError::Usage(format!("`hooks event` reads the event from stdin, and {why}")));
    };
    context.timings.passed("read");
    let incoming = input::decode(&bytes).inspect_err(|_| suspect(context, &bytes, 0))?;
    context.timings.passed("decode");
    let is_call = matches!(incoming.event, Event::PreToolUse(_));
    context.set_undecided(is_call);
    context.watch(budget::of_event(&incoming.event));
    let road = if is_call { Road::Fast } else { Road::Full };
    Ok(Heard { road, ..incoming.into() })
}

/// How far an event is looked at while it arrives: the client names it near the beginning, and megabytes take time.
const EARLY: usize = 1024 * 1024;

/// What cannot be read, or does not all come in time, may be a tool call: if what is there names one in either form, it
/// waits to be decided about.
fn suspect(context: &HookContext<'_>, bytes: &[u8], known: usize) {
    let longest = PRE_TOOL_USE[0].len().max(PRE_TOOL_USE[1].len());
    // A name may have come in two pieces.
    let fresh = &bytes[known.saturating_sub(longest - 1)..];
    if !context.is_undecided() && names_a_call(fresh) {
        context.set_undecided(true);
        context.watch(budget::DEFAULT_MS);
    }
}

/// The names of the event that asks for a decision.
const PRE_TOOL_USE: [&[u8]; 2] = [b"PreToolUse", b"pre_tool_use"];

fn names_a_call(bytes: &[u8]) -> bool {
    // Both begin with the same letter; looking for that first takes one pass.
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'P' | b'p'));
    starts.map(|(at, _)| &bytes[at..]).any(|rest| PRE_TOOL_USE.iter().any(|name| rest.starts_with(name)))
}
