//! Factory Droid 0.225: Claude Code's event names and reply. It treats "ask" as consent, ignores `decision` before a
//! call, sends no ids of calls and has no event for a failed tool.

use super::Sheet;
use super::render::like_claude;
use super::sheet::as_it_is;
use crate::claude_code::EventName::{
    PostToolUse, PreToolUse, SessionStart, Stop, SubagentStop, UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Block, Deny, Modify};

pub(super) static SHEET: Sheet = Sheet {
    events: &[],
    fields: &[],
    capabilities: &[
        (PreToolUse, &[Deny, Modify]),
        (PostToolUse, &[AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (Stop, &[Block]),
        (SubagentStop, &[Block]),
    ],
    prepare: as_it_is,
    render: like_claude,
};
