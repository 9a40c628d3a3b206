//! Guesses the sender of an incomplete or unreadable call.
//!
//! The answer that is prepared for such a call must work for its sender. A wrong guess does little harm: none of
//! these answers allows the call, and a complete payload replaces the guess.

use super::{Agent, Caller, Surroundings};
use crate::claude_code::EventName;

/// Texts before the call's input that show the sender; the first match counts.
const SIGNS: [(&[u8], Agent); 19] = [
    (b"\"cursor_version\"", Agent::Cursor),
    (b"\"conversation_id\"", Agent::Cursor),
    (b"\"agent\":\"opencode\"", Agent::Opencode),
    (b"\"agent\":\"pi\"", Agent::Pi),
    (b"\"agent\":\"amp\"", Agent::Amp),
    (b"\"taskId\"", Agent::Cline),
    (b"\"hookEventName\"", Agent::VsCode),
    (b"\"sessionId\"", Agent::Copilot),
    (b"\"toolName\"", Agent::Copilot),
    (b"\"matcher_context\"", Agent::Goose),
    (b"\"event\"", Agent::Goose),
    (b"\"turn_id\"", Agent::Codex),
    (b"/rollout-", Agent::Codex),
    (b"\"BeforeTool\"", Agent::Gemini),
    (b"/.gemini/", Agent::Gemini),
    (b"/.qwen/", Agent::Qwen),
    (b"/.factory/", Agent::Droid),
    (b"/.copilot/", Agent::Copilot),
    (b"\"preToolUse\"", Agent::Cursor),
];

/// Variables that agents set for their hooks.
const VARIABLES: [(&str, Agent); 5] = [
    ("COPILOT_CLI", Agent::Copilot),
    ("QWEN_CODE_SESSION_ID", Agent::Qwen),
    ("GEMINI_SESSION_ID", Agent::Gemini),
    ("DROID_PROJECT_DIR", Agent::Droid),
    ("CURSOR_VERSION", Agent::Cursor),
];

/// Where the input of a call begins: its content is not from the agent itself.
const INPUTS: [&[u8]; 4] = [b"\"tool_input\"", b"\"toolArgs\"", b"\"toolInput\"", b"\"tool_call\""];

/// How many bytes are searched.
const MOST: usize = 64 * 1024;

/// The probable sender; `None` if it seems to be Claude Code. `client_session` is the session for which Claude Code
/// started the process, by its own variable.
pub fn glimpse(bytes: &[u8], client_session: Option<&str>, around: Surroundings<'_>) -> Option<Caller> {
    let head = &bytes[..bytes.len().min(MOST)];
    let end = INPUTS.iter().filter_map(|key| find(head, key).map(|at| at + key.len())).min();
    let head = &head[..end.unwrap_or(head.len())];
    if client_session.is_some_and(|id| find(head, id.as_bytes()).is_some()) {
        return None;
    }
    let by_sign = SIGNS.iter().find(|(sign, _)| find(head, sign).is_some());
    let by_variable = || VARIABLES.iter().find(|(name, _)| (around.variable)(name).is_some());
    let agent = by_sign.map(|(_, agent)| *agent).or_else(|| by_variable().map(|(_, agent)| *agent))?;
    Some(Caller::asking(agent, EventName::PreToolUse))
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
