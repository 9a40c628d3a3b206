//! Events that are incomplete or unreadable, and may be tool calls.

use context_graph_events::agents::{self, Caller};

use super::budget;
use super::context::HookContext;
use super::input::CallerStage;
use crate::Environment;

/// How much of an event is searched while it arrives: the client names the event near the beginning, and
/// searching megabytes takes time.
pub(super) const EARLY: usize = 1024 * 1024;

/// An event that is unreadable or incomplete may be a tool call. If the bytes so far name one in any form, it is
/// answered as an undecided call, in the dialect of its apparent sender: with "ask", or with a refusal where the
/// agent cannot ask. The first `searched` bytes were searched before.
pub(super) fn prepare_as_call(context: &HookContext<'_>, bytes: &[u8], searched: usize) {
    // A name may have arrived in two parts.
    let fresh = &bytes[searched.saturating_sub(LONGEST)..];
    let is_expected = context.fails_as_ask();
    let named = named_call(fresh);
    if !is_expected && named.is_none() || context.caller().is_some_and(|caller| caller.agent.is_some()) {
        return;
    }
    let client_session = Environment::client_session();
    let seems = agents::glimpse(bytes, client_session.as_deref(), Environment::around());
    match seems.or_else(|| (named == Some(Named::Another)).then(Caller::unknown)) {
        Some(caller) => context.note_caller(&caller, CallerStage::WithEvent),
        None if is_expected => {}
        None => context.prepare_fallback_answers(true, budget::DEFAULT_MS),
    }
}

/// Whether the event looks complete.
pub(super) fn looks_whole(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}")
}

/// The name of the event that needs a decision, in both forms of Claude Code.
const PRE_TOOL_USE: [&[u8]; 2] = [b"PreToolUse", b"pre_tool_use"];
/// Names and fields that show another agent's payload. Some of them also occur in events that are not calls.
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
/// At least the length of the longest of these names.
const LONGEST: usize = 24;

/// Which agent's tool call the bytes seem to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    ClaudeCode,
    Another,
}

fn named_call(bytes: &[u8]) -> Option<Named> {
    // Other agents' names are in quotes. Searching for the first byte needs only one pass.
    let starts = bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'P' | b'p' | b'"'));
    let mut rest = starts.map(|(at, byte)| (*byte, &bytes[at..]));
    rest.find_map(|(byte, rest)| match byte {
        b'"' => OTHERS.iter().any(|name| rest[1..].starts_with(name)).then_some(Named::Another),
        _ => PRE_TOOL_USE.iter().any(|name| rest.starts_with(name)).then_some(Named::ClaudeCode),
    })
}
