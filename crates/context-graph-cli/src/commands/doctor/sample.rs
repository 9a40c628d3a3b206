//! A minimal event of each kind, as the client sends it.

use std::path::Path;

use context_graph_events::EventName;
use serde_json::{Map, Value, json};

/// The session id of test events.
pub(super) const SESSION: &str = "context-graph-doctor";

/// An event that changes nothing.
pub(super) fn event(name: EventName, folder: &Path) -> Value {
    let mut object = common(name, folder);
    let own = match name {
        EventName::PreToolUse | EventName::PermissionRequest | EventName::PermissionDenied => call(),
        EventName::PostToolUse => {
            with(call(), json!({"tool_response": {"stdout": "", "stderr": ""}, "duration_ms": 1}))
        }
        EventName::PostToolUseFailure => with(call(), json!({"error": "trial"})),
        EventName::PostToolBatch => json!({"tool_calls": [call()]}),
        EventName::UserPromptSubmit => json!({"prompt": "trial"}),
        EventName::UserPromptExpansion => {
            json!({"expansion_type": "slash_command", "command_name": "c", "command_args": "", "prompt": "trial"})
        }
        EventName::SessionStart => json!({"source": "startup"}),
        EventName::SessionEnd => json!({"reason": "other"}),
        EventName::Stop => json!({"stop_hook_active": false}),
        EventName::SubagentStop => {
            json!({"stop_hook_active": false, "agent_id": "a", "agent_type": "t", "agent_transcript_path": ""})
        }
        EventName::SubagentStart => json!({"agent_id": "a", "agent_type": "t"}),
        EventName::StopFailure => json!({"error": "unknown"}),
        EventName::PreCompact => json!({"trigger": "manual", "custom_instructions": null}),
        EventName::PostCompact => json!({"trigger": "manual", "compact_summary": "trial"}),
        EventName::PreModelSwitch | EventName::PostModelSwitch => {
            json!({"from_model": "a", "to_model": "b", "requested_model": "b", "source": "command",
                "context_tokens": 0, "prompt_cache_warm": false, "cache_ttl": "5m", "estimated_cache_write_usd": 0,
                "pricing": "list"})
        }
        EventName::Notification => json!({"message": "trial", "notification_type": "idle_prompt"}),
        EventName::Setup => json!({"trigger": "init"}),
        EventName::TeammateIdle => json!({"teammate_name": "t", "team_name": "t"}),
        EventName::TaskCreated | EventName::TaskCompleted => {
            json!({"task_id": "t", "task_subject": "trial"})
        }
        EventName::Elicitation => json!({"mcp_server_name": "s", "message": "trial", "mode": "form"}),
        EventName::ElicitationResult => json!({"mcp_server_name": "s", "action": "decline"}),
        EventName::ConfigChange => json!({"source": "project_settings"}),
        EventName::WorktreeCreate => json!({"name": "trial"}),
        EventName::WorktreeRemove => json!({"worktree_path": folder}),
        EventName::InstructionsLoaded => {
            json!({"file_path": folder.join("CLAUDE.md"), "memory_type": "Project", "load_reason": "session_start"})
        }
        EventName::CwdChanged => json!({"old_cwd": folder, "new_cwd": folder}),
        EventName::FileChanged => json!({"file_path": folder.join("file"), "event": "change"}),
        EventName::DirectoryAdded => json!({"directory": folder, "source": "slash_command"}),
        EventName::MessageDisplay => {
            json!({"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "trial"})
        }
    };
    object.extend(own.as_object().cloned().unwrap_or_default());
    Value::Object(object)
}

/// A call that the guard must deny.
pub(super) fn forbidden(folder: &Path) -> Value {
    let mut object = common(EventName::PreToolUse, folder);
    let own = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "trial"});
    object.extend(own.as_object().cloned().unwrap_or_default());
    Value::Object(object)
}

fn common(name: EventName, folder: &Path) -> Map<String, Value> {
    let common = json!({
        "hook_event_name": name.as_str(), "session_id": SESSION, "transcript_path": "", "cwd": folder,
        "permission_mode": "default",
    });
    common.as_object().cloned().unwrap_or_default()
}

fn call() -> Value {
    json!({"tool_name": "Glob", "tool_input": {"pattern": "*.md"}, "tool_use_id": "trial", "reason": "trial"})
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Some(object), Some(more)) = (value.as_object_mut(), more.as_object()) {
        object.extend(more.clone());
    }
    value
}

#[cfg(test)]
mod tests {
    use context_graph_events::Event;

    use super::*;

    #[test]
    fn every_event_has_a_sample_that_is_understood() {
        for name in EventName::ALL {
            let sample = event(name, Path::new("/x"));
            let read = Event::from_object(sample.as_object().unwrap().clone());
            assert_eq!(read.map(|event| event.known_name()), Ok(Some(name)), "{sample}");
        }
    }
}
