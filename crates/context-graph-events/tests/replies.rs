//! A reply has only fields that its event supports, and never a `null`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::claude_code::*;
use context_graph_events::{EventName, HookReply, ReplyBody, Verb, schema};
use serde_json::{Map, Value, json};

fn fields(reply: impl HookReply) -> Value {
    match reply.into_body() {
        ReplyBody::Fields(map) => Value::Object(map),
        ReplyBody::PlainText(text) => json!({"plain text": text}),
    }
}

fn input() -> Map<String, Value> {
    json!({"command": "ls"}).as_object().unwrap().clone()
}

/// One of every constructor, by event.
fn all_replies() -> Vec<(EventName, Value)> {
    use EventName as E;
    vec![
        (E::PreToolUse, fields(PreToolUseReply::none())),
        (E::PreToolUse, fields(PreToolUseReply::allow().with_updated_input(input()))),
        (E::PreToolUse, fields(PreToolUseReply::deny("r").with_context("c").with_system_message("m"))),
        (E::PreToolUse, fields(PreToolUseReply::ask("r"))),
        (E::PreToolUse, fields(PreToolUseReply::defer())),
        (E::PreToolUse, fields(PreToolUseReply::halt("r"))),
        (E::PostToolUse, fields(PostToolUseReply::block("r").with_context("c").with_classifier_context("k"))),
        (E::PostToolUse, fields(PostToolUseReply::halt("r").with_updated_output(json!({"stdout": ""})))),
        (E::PostToolUse, fields(PostToolUseReply::none().with_updated_mcp_output(json!([])))),
        (E::PostToolUse, fields(PostToolUseReply::none().with_updated_output(Value::Null))),
        (E::PostToolUseFailure, fields(PostToolUseFailureReply::block("r").with_context("c"))),
        (E::PostToolBatch, fields(PostToolBatchReply::halt("r").with_context("c"))),
        (E::Notification, fields(NotificationReply::none().with_context("c"))),
        (E::UserPromptSubmit, fields(UserPromptSubmitReply::block("r"))),
        (E::UserPromptSubmit, fields(UserPromptSubmitReply::block_and_hide("r"))),
        (E::UserPromptSubmit, fields(UserPromptSubmitReply::halt("r").with_session_title("t"))),
        (E::UserPromptExpansion, fields(UserPromptExpansionReply::block_and_hide("r").with_context("c"))),
        (
            E::SessionStart,
            fields(
                SessionStartReply::none()
                    .with_context("c")
                    .with_initial_user_message("u")
                    .with_session_title("t")
                    .with_watch_paths(["/w".to_owned()])
                    .with_reloaded_skills(),
            ),
        ),
        (E::SessionEnd, fields(SessionEndReply::none())),
        (E::Stop, fields(StopReply::block("r").with_system_message("m"))),
        (E::Stop, fields(StopReply::halt("r").with_context("c"))),
        (E::StopFailure, fields(StopFailureReply::none())),
        (E::SubagentStart, fields(SubagentStartReply::none().with_context("c"))),
        (E::SubagentStop, fields(SubagentStopReply::block("r").with_context("c"))),
        (E::PreCompact, fields(PreCompactReply::block("r"))),
        (E::PostCompact, fields(PostCompactReply::none())),
        (E::PreModelSwitch, fields(PreModelSwitchReply::deny("r"))),
        (E::PreModelSwitch, fields(PreModelSwitchReply::ask("r"))),
        (E::PreModelSwitch, fields(PreModelSwitchReply::allow())),
        (E::PostModelSwitch, fields(PostModelSwitchReply::none().with_context("c"))),
        (E::PermissionRequest, fields(PermissionRequestReply::allow())),
        (E::PermissionRequest, fields(PermissionRequestReply::allow_with_input(input()))),
        (E::PermissionRequest, fields(PermissionRequestReply::allow_with_permissions(vec![input()]))),
        (E::PermissionRequest, fields(PermissionRequestReply::deny("r"))),
        (E::PermissionRequest, fields(PermissionRequestReply::deny_and_interrupt("r"))),
        (E::PermissionDenied, fields(PermissionDeniedReply::retry(true))),
        (E::Setup, fields(SetupReply::none().with_context("c"))),
        (E::TeammateIdle, fields(TeammateIdleReply::none())),
        (E::TaskCreated, fields(TaskCreatedReply::block("r"))),
        (E::TaskCompleted, fields(TaskCompletedReply::block("r"))),
        (E::Elicitation, fields(ElicitationReply::accept(input()))),
        (E::Elicitation, fields(ElicitationReply::decline())),
        (E::ElicitationResult, fields(ElicitationResultReply::cancel())),
        (E::ConfigChange, fields(ConfigChangeReply::none())),
        (E::WorktreeCreate, fields(WorktreeCreateReply::created("/w"))),
        (E::WorktreeRemove, fields(WorktreeRemoveReply::none())),
        (E::InstructionsLoaded, fields(InstructionsLoadedReply::none())),
        (E::CwdChanged, fields(CwdChangedReply::none().with_watch_paths(["/w".to_owned()]))),
        (E::FileChanged, fields(FileChangedReply::none().with_watch_paths([]))),
        (E::DirectoryAdded, fields(DirectoryAddedReply::none())),
        (E::MessageDisplay, fields(MessageDisplayReply::display("d"))),
    ]
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

#[test]
fn every_reply_fits_the_published_schema_with_nothing_beyond_it() {
    let replies = all_replies();
    for name in EventName::ALL {
        assert!(replies.iter().any(|(event, _)| *event == name), "no reply to {name} tried");
    }
    for (event, reply) in replies {
        let schema = &schema::replies()["$defs"][event.as_str()];
        jsonschema::validator_for(schema).unwrap().validate(&reply).unwrap();
        let known = |object: &Value, schema: &Value| {
            object.as_object().unwrap().keys().all(|key| schema["properties"].get(key).is_some())
        };
        assert!(known(&reply, schema), "{event}: {reply}");
        if let Some(specific) = reply.get("hookSpecificOutput") {
            assert!(known(specific, &schema["properties"]["hookSpecificOutput"]), "{event}: {reply}");
            assert_eq!(specific["hookEventName"], event.as_str());
        }
        assert!(!has_null(&reply), "{event}: {reply}");
    }
}

#[test]
fn halting_a_tool_call_also_denies_it() {
    assert_eq!(
        fields(PreToolUseReply::halt("enough")),
        json!({
            "continue": false,
            "stopReason": "enough",
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "enough",
            },
        })
    );
}

#[test]
fn a_permission_is_answered_in_the_nested_shape() {
    assert_eq!(
        fields(PermissionRequestReply::deny_and_interrupt("no")),
        json!({"hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "no", "interrupt": true},
        }})
    );
}

#[test]
fn compaction_is_told_in_plain_text_joined_by_a_blank_line() {
    assert_eq!(PreCompactReply::text(["a", "", "b"]).into_body(), ReplyBody::PlainText("a\n\nb".into()));
    assert_eq!(PreCompactReply::text([""]).into_body(), ReplyBody::PlainText(String::new()));
    assert_eq!(PreCompactReply::none().into_body(), ReplyBody::PlainText(String::new()));
    assert_eq!(fields(PreCompactReply::block("no")), json!({"decision": "block", "reason": "no"}));
}

#[test]
fn there_is_no_asking_and_no_context_at_a_permission_request() {
    let verbs = reply_spec(EventName::PermissionRequest).verbs;
    assert!(!verbs.contains(&Verb::Ask) && !verbs.contains(&Verb::AddContext));
}

#[test]
fn verbs_stand_strictest_first() {
    for name in EventName::ALL {
        assert!(reply_spec(name).verbs.is_sorted(), "{name}");
    }
}
