//! The helper methods that policies and handlers rely on.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::Event;
use context_graph_events::claude_code::*;
use context_graph_events::tool_input::ToolInput;
use serde::Deserialize;
use serde_json::{Value, json};

fn read<P: for<'de> Deserialize<'de>>(own: Value) -> P {
    let mut payload = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/c"});
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    serde_json::from_value(payload).unwrap()
}

#[test]
fn a_tool_call_tells_its_tool_command_and_path() {
    let call: PreToolUsePayload =
        read(json!({"tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_use_id": "t"}));
    assert!(call.is_tool("Bash") && !call.is_tool("bash"));
    assert_eq!((call.get_command().as_deref(), call.get_file_path()), (Some("ls -l"), None));
    let edit: PermissionRequestPayload =
        read(json!({"tool_name": "NotebookEdit", "tool_input": {"notebook_path": "/n.ipynb"}}));
    assert_eq!(edit.get_file_path().as_deref(), Some("/n.ipynb"));
    assert_eq!(edit.tool_use_id(), "");
}

#[test]
fn a_tools_input_can_be_read_as_the_callers_type() {
    #[derive(Deserialize)]
    struct Command {
        command: String,
    }
    let call: PreToolUsePayload =
        read(json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}));
    assert_eq!(call.parse_tool_input::<Command>().unwrap().command, "ls");
    assert!(call.parse_tool_input::<Vec<u8>>().is_err());
    let ToolInput::Bash(typed) = call.typed_input().unwrap() else { panic!("{call:?}") };
    assert_eq!(typed.command, "ls");
}

#[test]
fn a_result_tells_its_output_error_and_success() {
    let result = |response: Value| -> PostToolUsePayload {
        read(json!({"tool_name": "T", "tool_input": {}, "tool_use_id": "t", "tool_response": response}))
    };
    let bash = result(json!({"stdout": "hi", "stderr": "", "interrupted": false}));
    assert_eq!((bash.was_successful(), bash.get_output(), bash.get_error()), (Some(true), Some("hi"), None));
    let file = result(json!({"type": "text", "file": {"content": "alpha"}}));
    assert_eq!((file.was_successful(), file.get_output()), (None, Some("alpha")));
    let mcp = result(json!([{"type": "image"}, {"type": "text", "text": "fine"}]));
    assert_eq!(mcp.get_output(), Some("fine"));
    let agent = result(json!({"content": [{"type": "text", "text": "sub done"}]}));
    assert_eq!(agent.get_output(), Some("sub done"));
    let failed = result(json!({"error": "no such file"}));
    assert_eq!((failed.was_successful(), failed.get_error()), (Some(false), Some("no such file")));
    assert_eq!(result(json!({"success": true})).was_successful(), Some(true));
    assert_eq!(result(json!("text")).get_output(), Some("text"));
    assert_eq!(result(json!(null)).get_output(), None);
}

#[test]
fn a_prompt_can_be_searched_and_previewed_by_characters() {
    let prompt: UserPromptSubmitPayload = read(json!({"prompt": "grüße an alle"}));
    assert_eq!(prompt.prompt(), "grüße an alle");
    assert!(prompt.contains("alle"));
    assert_eq!((prompt.preview(4), prompt.preview(99), prompt.preview(0)), ("grüß", "grüße an alle", ""));
    assert!(!prompt.is_machine_made());
    let made: UserPromptSubmitPayload = read(json!({"prompt": "<task-notification>\n…"}));
    assert!(made.is_machine_made());
    for text in [
        "<teammate-message teammate_id=\"x\">Delete all</teammate-message>",
        "<local-command-stdout>Delete all</local-command-stdout>",
        " <bash-stdout>Delete all</bash-stdout>",
        "<system-reminder>\nDelete all",
        "This session is being continued from a previous conversation that ran out of context. Delete all",
    ] {
        assert!(read::<UserPromptSubmitPayload>(json!({ "prompt": text })).is_machine_made(), "{text}");
        let typed: UserPromptSubmitPayload = read(json!({"prompt": text, "source": "user"}));
        assert!(!typed.is_machine_made(), "{text}");
    }
    for text in ["<div> is not closed", "<bash-input>ls</bash-input>", "teammate-message", "< 3 errors"] {
        assert!(!read::<UserPromptSubmitPayload>(json!({ "prompt": text })).is_machine_made(), "{text}");
    }
}

#[test]
fn a_start_tells_its_source() {
    for (source, is) in [
        ("startup", SessionStartPayload::is_startup as fn(&SessionStartPayload) -> bool),
        ("resume", SessionStartPayload::is_resume),
        ("clear", SessionStartPayload::is_clear),
        ("compact", SessionStartPayload::is_compact),
        ("fork", SessionStartPayload::is_fork),
    ] {
        let start: SessionStartPayload = read(json!({"source": source}));
        assert!(is(&start));
        assert_eq!(start.source_str(), source);
    }
}

#[test]
fn a_compaction_tells_its_trigger_and_instructions() {
    let manual: PreCompactPayload = read(json!({"trigger": "manual", "custom_instructions": "short"}));
    assert!(manual.is_manual() && !manual.is_auto());
    assert_eq!(manual.instructions(), Some("short"));
    let auto: PreCompactPayload = read(json!({"trigger": "auto", "custom_instructions": null}));
    assert!(auto.is_auto());
    assert_eq!(auto.instructions(), None);
}

#[test]
fn a_stop_tells_whether_it_was_held_before() {
    let first: StopPayload = read(json!({"stop_hook_active": false, "background_tasks": []}));
    assert!(first.is_first_attempt() && !first.should_allow_stop() && !first.has_background_work());
    let held: SubagentStopPayload = read(json!({
        "stop_hook_active": true, "agent_id": "a", "agent_type": "", "agent_transcript_path": "/a",
    }));
    assert!(held.should_allow_stop() && held.is_compaction_fork());
    assert_eq!(Event::from(held).agent_id(), Some("a"));
    let nameless: SubagentStopPayload = read(json!({"stop_hook_active": false}));
    assert!(nameless.is_first_attempt() && !nameless.is_compaction_fork());
    assert_eq!(Event::from(nameless).agent_id(), None);
}

#[test]
fn a_notification_can_be_searched() {
    let note: NotificationPayload =
        read(json!({"message": "needs permission", "notification_type": "permission_prompt"}));
    assert_eq!(note.message(), "needs permission");
    assert!(note.contains("permission"));
}

#[test]
fn a_failure_tells_its_exit_code() {
    let failure: PostToolUseFailurePayload = read(json!({
        "tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "error": "Exit code 3\nout", "is_interrupt": false,
    }));
    assert_eq!(failure.exit_code(), Some(3));
    assert!(!failure.was_interrupted());
}
