//! Agents that load code instead of running commands: opencode, Pi, Amp. A bridge of ours runs in them, sends Claude
//! Code's payload with the field `agent`, and does what an answer in Claude Code's form says. A refusal ends with exit
//! code 2; whatever the bridge cannot read is one.

use super::Sheet;
use super::render::like_claude;
use super::sheet::as_it_is;
use crate::claude_code::EventName::{
    self, PostToolUse, PostToolUseFailure, PreToolUse, SessionStart, Stop, UserPromptSubmit,
};
use crate::reply::Verb::{self, AddContext, Block, Deny, Modify};

/// opencode. What is told when a session starts waits in the bridge for the next prompt. No event comes early enough to
/// hold an agent that stops.
pub(super) static OPENCODE: Sheet = sheet(&[CALL, RESULT, FAILURE, PROMPT, START]);

/// Pi. One of its events comes before the agent settles.
pub(super) static PI: Sheet = sheet(&[CALL, RESULT, FAILURE, PROMPT, START, STOP]);

/// Amp, by its own description. It cannot refuse a prompt.
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
