//! Any event; its name says which one.

use context_graph_events::Event;
use context_graph_events::agents::{self, Caller};

use super::budget;
use super::context::HookContext;
use super::error::HookError;
use super::input;
use super::read::{Heard, Road};
use crate::Environment;

pub(super) fn read(context: &HookContext<'_>) -> Result<Heard, HookError> {
    let arrived = |bytes: &[u8], known: usize| {
        if known < EARLY && !looks_whole(bytes) {
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
    let incoming = input::decode_for(&bytes, |caller, known| context.met(caller, known))
        .inspect_err(|_| suspect(context, &bytes, 0))?;
    context.timings.passed("decode");
    let is_call = matches!(incoming.event, Event::PreToolUse(_));
    if incoming.caller.is_none() && context.is_undecided() {
        // Some words in it looked like another agent's.
        context.forget_caller();
    }
    // Another agent's event was prepared for when it was met.
    let is_prepared = |caller: &Caller| caller.event == incoming.event.known_name();
    if context.is_undecided() != is_call || !incoming.caller.as_ref().is_some_and(is_prepared) {
        context.set_undecided(is_call);
        context.watch(budget::of_event(&incoming.event));
    }
    let road = if is_call { Road::Fast } else { Road::Full };
    Ok(Heard { road, ..incoming.into() })
}

/// How much of an event is searched while it arrives: the client names the event near the beginning, and
/// searching megabytes takes time.
const EARLY: usize = 1024 * 1024;

/// An event that is unreadable or incomplete may be a tool call. If the bytes so far name one in any form, it
/// counts as a call without a decision, and is refused in the dialect of its apparent sender.
pub(super) fn suspect(context: &HookContext<'_>, bytes: &[u8], known: usize) {
    // A name may have arrived in two parts.
    let fresh = &bytes[known.saturating_sub(LONGEST)..];
    let is_expected = context.is_undecided();
    let named = names_a_call(fresh);
    if !is_expected && named.is_none() || context.caller().is_some_and(|caller| caller.agent.is_some()) {
        return;
    }
    let client_session = Environment::client_session();
    let seems = agents::glimpse(bytes, client_session.as_deref(), Environment::around());
    match seems.or_else(|| (named == Some(false)).then(Caller::unknown)) {
        Some(caller) => context.meet(&caller),
        None if is_expected => {}
        None => {
            context.set_undecided(true);
            context.watch(budget::DEFAULT_MS);
        }
    }
}

/// Whether the event looks complete. Nearly all arrive in one piece and are not searched twice.
pub(super) fn looks_whole(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}")
}

/// The name of the event that needs a decision, in both forms of Claude Code.
const PRE_TOOL_USE: [&[u8]; 2] = [b"PreToolUse", b"pre_tool_use"];
/// The names in other agents' payloads, and fields that only a call has.
const OTHERS: [&[u8]; 11] = [
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
    b"conversation_id",
];
/// Longer than any of them.
const LONGEST: usize = 24;

/// Whether the bytes name a tool call, and if so, whether it is Claude Code's.
fn names_a_call(bytes: &[u8]) -> Option<bool> {
    // Other agents' names are in quotes. Searching for the first byte needs only one pass.
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'P' | b'p' | b'"'));
    let mut rest = starts.map(|(at, byte)| (*byte, &bytes[at..]));
    rest.find_map(|(byte, rest)| match byte {
        b'"' => OTHERS.iter().any(|name| rest[1..].starts_with(name)).then_some(false),
        _ => PRE_TOOL_USE.iter().any(|name| rest.starts_with(name)).then_some(true),
    })
}
