//! How Codex remembers that its user trusts a hook: by a hash of the hook's definition. A hook whose hash is
//! not in the user's `config.toml` is silently skipped.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Codex's default timeout for a hook, in seconds.
const USUAL_TIMEOUT: u64 = 600;
/// Its longest timeout for the end of a session, or an interruption.
const LONGEST_AT_THE_END: u64 = 3;

/// The key under `hooks.state` and the `trusted_hash` that Codex expects there, for each of our hooks in a `hooks.json` at
/// `path`.
pub fn codex_trust(path: &str, text: &str) -> Vec<(String, String)> {
    let Some(client) = super::AgentClient::of(context_graph_events::agents::Agent::Codex) else {
        return Vec::new();
    };
    let ours = client.find_ours(text).unwrap_or_default();
    let Ok(file) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return Vec::new();
    };
    let of = |found: &crate::ours::FoundHook| {
        let (group, entry) = found.position();
        let group_there = &file["hooks"][&found.event][group];
        let event = snake(&found.event);
        let hash = hash(&event, group_there["matcher"].as_str(), &group_there["hooks"][entry]);
        (format!("{path}:{event}:{group}:{entry}"), hash)
    };
    ours.iter().map(of).collect()
}

fn hash(event: &str, matcher: Option<&str>, entry: &Value) -> String {
    let timeout = entry["timeout"].as_u64().unwrap_or(USUAL_TIMEOUT).max(1);
    let ends = matches!(event, "session_end" | "interrupt");
    let timeout = if ends { timeout.min(LONGEST_AT_THE_END) } else { timeout };
    let is_async = entry["async"].as_bool().unwrap_or(false);
    let hook = json!({"async": is_async, "command": entry["command"], "timeout": timeout, "type": "command"});
    let mut identity = json!({"event_name": event, "hooks": [hook]});
    if let Some(matcher) = matcher {
        identity["matcher"] = matcher.into();
    }
    // Codex hashes the JSON with sorted keys and without spaces.
    format!("sha256:{:x}", Sha256::digest(identity.to_string().as_bytes()))
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut snake = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
