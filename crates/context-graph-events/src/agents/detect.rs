//! Who sent a payload.
//!
//! Variables of the environment are inherited: an agent that another one starts in its shell has those of both. So a
//! variable counts only if it names the payload's session, or if the payload also contains something that Claude
//! Code's payloads do not have. Droid is the exception: there something is missing.

use serde_json::{Map, Value};

use super::{Agent, Caller, Surroundings};

/// Names of events that only Gemini CLI has.
const GEMINI: [&str; 8] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];
/// Every tool call has at least one of these fields.
pub(super) const OF_A_CALL: [&str; 8] =
    ["tool_name", "toolName", "tool", "tool_call", "tool_input", "toolInput", "toolArgs", "command"];

/// The sender, unless it is Claude Code or a program that wraps it.
pub fn detect(object: &Map<String, Value>, around: Surroundings<'_>) -> Option<Caller> {
    let agent = if object.contains_key("cursor_version") {
        Agent::Cursor
    } else if let Some(bridged) = bridged(object) {
        bridged
    } else if let Some(name) = object.get("hook_event_name") {
        named(object, name.as_str().unwrap_or(""), around)?
    } else {
        return unnamed(object);
    };
    Some(Caller::new(agent))
}

/// The agent that one of our own bridges names.
fn bridged(object: &Map<String, Value>) -> Option<Agent> {
    let agent = Agent::parse(object.get("agent")?.as_str()?)?;
    matches!(agent, Agent::Opencode | Agent::Pi | Agent::Amp).then_some(agent)
}

/// The sender of a payload that names its event as Claude Code does.
fn named(object: &Map<String, Value>, name: &str, around: Surroundings<'_>) -> Option<Agent> {
    if object.contains_key("sessionId") {
        return Some(Agent::Copilot);
    }
    // In this field, only Cursor writes names that begin with a lower-case letter.
    if name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Some(Agent::Cursor);
    }
    if GEMINI.contains(&name) {
        return Some(Agent::Gemini);
    }
    let transcript = object.get("transcript_path");
    let path = transcript.and_then(Value::as_str);
    let lies_in = |folder: &str| path.is_some_and(|path| path.contains(folder));
    if object.contains_key("timestamp") {
        let is_session = |variable| {
            let id = (around.variable)(variable);
            id.is_some() && id.as_deref() == object.get("session_id").and_then(Value::as_str)
        };
        if is_session("QWEN_CODE_SESSION_ID") || object.contains_key("tool_call_id") || lies_in("/.qwen/") {
            return Some(Agent::Qwen);
        }
        if is_session("GEMINI_SESSION_ID") || lies_in("/.gemini/") {
            return Some(Agent::Gemini);
        }
        if lies_in("/.copilot/") || (around.variable)("COPILOT_CLI").is_some() || path.is_none() {
            return Some(Agent::Copilot);
        }
        return (around.variable)("QWEN_CODE_SESSION_ID").map(|_| Agent::Qwen);
    }
    if object.contains_key("prompt_id") {
        return object.contains_key("tool_call_id").then_some(Agent::Qwen);
    }
    // Codex sends `null` if it writes no transcript, and no `turn_id` with events of the whole session.
    let is_unfiled = transcript == Some(&Value::Null) && object.contains_key("model");
    if object.contains_key("turn_id") || is_unfiled || lies_in("/rollout-") {
        return Some(Agent::Codex);
    }
    // Droid sends no id of a call. But session events of Claude Code have none either, and Droid's variable is also
    // set in a Claude Code that was started in a shell of Droid. So a transcript of Claude Code rules Droid out.
    let started_by_droid = || (around.variable)("DROID_PROJECT_DIR").is_some();
    let is_droid = !object.contains_key("tool_use_id")
        && (lies_in("/.factory/") || !lies_in("/.claude/") && started_by_droid());
    is_droid.then_some(Agent::Droid)
}

/// The sender of a payload that names its event in another way, or not at all. Envelopes have their own field
/// for it.
fn unnamed(object: &Map<String, Value>) -> Option<Caller> {
    let has = |key: &str| object.contains_key(key);
    if has("hook_type") {
        return None;
    }
    let agent = if has("hookEventName") {
        Agent::VsCode
    } else if has("taskId") && (has("hookName") || has("preToolUse")) {
        Agent::Cline
    } else if has("sessionId") || has("toolName") || has("toolArgs") {
        Agent::Copilot
    } else if has("event") && (has("matcher_context") || has("session_id")) {
        Agent::Goose
    } else {
        return OF_A_CALL.iter().any(|key| has(key)).then(Caller::unknown);
    };
    Some(Caller::new(agent))
}
