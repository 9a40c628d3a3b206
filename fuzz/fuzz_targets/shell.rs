//! Any command is decided about, quickly and without a panic.
#![no_main]

use context_graph_events::Event;
use context_graph_policy::{Context, ListedFileSystem, Guards, PolicyConfig};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // The first character chooses the tool.
    let tool = match text.chars().next() {
        Some('P') => "PowerShell",
        Some('M') => "mcp__files__write",
        _ => "Bash",
    };
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/home/u/p",
        "tool_name": tool, "tool_input": {"command": text, "path": text, "content": text}, "tool_use_id": "t",
    });
    let Some(event) = payload.as_object().cloned().and_then(|object| Event::from_object(object).ok()) else { return };
    let fs = ListedFileSystem::default();
    let context = Context { home: "/home/u", project: "/home/u/p", cwd: "/home/u/p", fs: &fs };
    let decision = Guards::new(PolicyConfig::default()).decide(&event, &context);
    let settled = context_graph_policy::legality::settle(None, &event, decision);
    let _ = event.known_name().map(|name| context_graph_policy::reply(name, &settled));
});
