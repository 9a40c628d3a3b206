//! Any event, told apart by its name.

use context_graph_events::Event;
use context_graph_events::agents::Caller;

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
    let incoming = input::decode_and_meet(&bytes, |caller| context.meet(caller))
        .inspect_err(|_| suspect(context, &bytes, 0))?;
    context.timings.passed("decode");
    let is_call = matches!(incoming.event, Event::PreToolUse(_));
    if incoming.caller.is_none() && context.is_undecided() {
        // Words in it looked like another agent's.
        context.forget_caller();
    }
    context.set_undecided(is_call);
    context.watch(budget::of_event(&incoming.event));
    let road = if is_call { Road::Fast } else { Road::Full };
    Ok(Heard { road, ..incoming.into() })
}

/// How far an event is looked at while it arrives: the client names it near the beginning, and megabytes take time.
const EARLY: usize = 1024 * 1024;

/// What cannot be read, or does not all come in time, may be a tool call: if what is there names one in any form, it
/// waits to be decided about.
fn suspect(context: &HookContext<'_>, bytes: &[u8], known: usize) {
    // A name may have come in two pieces.
    let fresh = &bytes[known.saturating_sub(LONGEST)..];
    if context.is_undecided() {
        return;
    }
    if let Some(is_claudes) = names_a_call(fresh) {
        context.set_undecided(true);
        if !is_claudes && context.caller().is_none() {
            context.meet(&Caller::unknown());
        }
        context.watch(budget::DEFAULT_MS);
    }
}

/// The names of the event that asks for a decision, in the two forms of Claude Code.
const PRE_TOOL_USE: [&[u8]; 2] = [b"PreToolUse", b"pre_tool_use"];
/// The same, and fields that only a call has, as other agents write them.
const OTHERS: [&[u8]; 10] = [
    b"preToolUse",
    b"BeforeTool\"",
    b"beforeShellExecution",
    b"beforeMCPExecution",
    b"beforeReadFile",
    b"BeforeShellExecution",
    b"BeforeReadFile",
    b"toolArgs",
    b"tool_call\"",
    b"cursor_version",
];
/// More than the longest of them.
const LONGEST: usize = 24;

/// Whether a call is named, and then whether it is Claude Code's.
fn names_a_call(bytes: &[u8]) -> Option<bool> {
    // The names of others stand in quotes; looking for one byte first takes one pass.
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'P' | b'p' | b'"'));
    let mut rest = starts.map(|(at, byte)| (*byte, &bytes[at..]));
    rest.find_map(|(byte, rest)| match byte {
        b'"' => OTHERS.iter().any(|name| rest[1..].starts_with(name)).then_some(false),
        _ => PRE_TOOL_USE.iter().any(|name| rest.starts_with(name)).then_some(true),
    })
}
