//! Agents that load code instead of running commands: opencode, Pi, Amp. A bridge of ours runs in them, sends Claude
//! Code's payload with the field `agent`, and follows the answer, which has Claude Code's format. A refusal ends with
//! exit code 2. An unreadable answer counts as a refusal.

use super::Sheet;
use super::render::like_claude;
use super::sheet::as_it_is;
use crate::claude_code::EventName::{
    self, PostToolUse, PostToolUseFailure, PreToolUse, SessionStart, Stop, UserPromptSubmit,
};
use crate::reply::Verb::{self, AddContext, Block, Deny, Modify};

/// opencode. Context for the start of a session is kept in the bridge until the next prompt. No event comes early
/// enough to keep an agent from stopping.
pub(super) static OPENCODE: Sheet = sheet(&[CALL, RESULT, FAILURE, PROMPT, START]);

/// Pi. It has an event before the agent stops.
pub(super) static PI: Sheet = sheet(&[CALL, RESULT, FAILURE, PROMPT, START, STOP]);

/// Amp, by its own documentation. It cannot refuse a prompt.
pub(super) static AMP: Sheet =
    sheet(&[CALL, RESULT, FAILURE, (UserPromptSubmit, &[AddContext]), START, STOP]);

type Row = (EventName, &'static [Verb]);

const CALL: Row = (PreToolUse, &[Deny, Modify]);
const RESULT: Row = (PostToolUse, &[Block, AddContext]);
const FAILURE: Row = (PostToolUseFailure, &[AddContext]);
const PROMPT: Row = (UserPromptSubmit, &[Block, AddContext]);
const START: Row = (SessionStart, &[AddContext]);
const STOP: Row = (Stop, &[Block]);

const fn sheet(capabilities: &'static [Row]) -> Sheet {
    Sheet { events: &[], fields: &[], capabilities, prepare: as_it_is, render: like_claude }
}
