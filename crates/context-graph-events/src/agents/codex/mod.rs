//! Codex 0.166: Claude Code's event names and reply, read strictly. An unknown field, a question, or a refusal without a
//! reason lets the tool run.

use super::Sheet;
use super::render::like_claude;
use super::sheet::as_it_is;
use crate::claude_code::EventName::{
    PermissionRequest, PostToolUse, PreToolUse, SessionStart, Stop, SubagentStart, SubagentStop,
    UserPromptSubmit,
};
use crate::reply::Verb::{AddContext, Allow, Block, Deny, Modify};

pub(super) static SHEET: Sheet = Sheet {
    events: &[],
    fields: &[],
    capabilities: &[
        (PreToolUse, &[Deny, Modify, AddContext]),
        (PermissionRequest, &[Deny, Allow]),
        (PostToolUse, &[Block, AddContext]),
        (UserPromptSubmit, &[Block, AddContext]),
        (SessionStart, &[AddContext]),
        (SubagentStart, &[AddContext]),
        (Stop, &[Block]),
        (SubagentStop, &[Block]),
    ],
    prepare: as_it_is,
    render: like_claude,
};
