//! Agents that load code instead of running commands: opencode, Pi, Amp. A bridge of ours runs in them, sends Claude
//! Code's payload with the field `agent`, and does what an answer in Claude Code's form says. A refusal ends with exit
//! code 2; whatever the bridge cannot read is one.

use super::Sheet;
use super::render::like_claude;
use super::sheet::as_it_is;
use crate::claude_code::EventName::{
    PostToolUse, PostToolUseFailure, PreToolUse, SessionStart, UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Block, Deny, Modify};

/// What is told when a session starts waits in the bridge for the next prompt. No event comes early enough to hold an
/// agent that stops.
pub(super) static SHEET: Sheet = Sheet {
    events: &[],
    fields: &[],
    capabilities: &[
        (PreToolUse, &[Deny, Modify]),
        (PostToolUse, &[Block, AddContext]),
        (PostToolUseFailure, &[AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
    ],
    prepare: as_it_is,
    render: like_claude,
};
