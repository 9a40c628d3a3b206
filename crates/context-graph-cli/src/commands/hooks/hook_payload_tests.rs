//! The envelope's contract, case by case.

use serde_json::{Value, json};

use super::*;

fn to_json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn test_session_end_status_serialization() {
    let written = [
        (SessionEndStatus::Normal, "normal"),
        (SessionEndStatus::Timeout, "timeout"),
        (SessionEndStatus::Error, "error"),
        (SessionEndStatus::UserAbort, "user_abort"),
        (SessionEndStatus::Clear, "clear"),
        (SessionEndStatus::Logout, "logout"),
    ];
    for (status, word) in written {
        assert_eq!(to_json(&status), json!(word));
        assert_eq!(status.to_string(), word);
    }
    assert_eq!(SessionEndStatus::default(), SessionEndStatus::Normal);
}

#[test]
fn test_session_end_status_deserialization() {
    for status in SessionEndStatus::ALL {
        assert_eq!(serde_json::from_value::<SessionEndStatus>(json!(status.as_str())).unwrap(), status);
    }
}

#[test]
fn test_session_end_status_invalid_fails() {
    for word in ["unknown", "Normal", "userAbort", ""] {
        assert!(serde_json::from_value::<SessionEndStatus>(json!(word)).is_err(), "{word}");
    }
}

#[test]
fn test_session_end_status_from_claude_code() {
    let meanings = [
        ("exit", SessionEndStatus::Normal),
        ("clear", SessionEndStatus::Clear),
        ("logout", SessionEndStatus::Logout),
        ("prompt_input_exit", SessionEndStatus::UserAbort),
        ("other", SessionEndStatus::Error),
        ("never heard of it", SessionEndStatus::Error),
    ];
    for (reason, status) in meanings {
        assert_eq!(SessionEndStatus::from_claude_code_reason(reason), status, "{reason}");
    }
}

#[test]
fn test_conversation_message_new() {
    let message = ConversationMessage::new("user", "Hello");
    assert_eq!((message.role.as_str(), message.content.as_str()), ("user", "Hello"));
}

#[test]
fn test_conversation_message_helpers() {
    assert_eq!(ConversationMessage::user("q").role, "user");
    assert_eq!(ConversationMessage::assistant("a").role, "assistant");
    assert_eq!(ConversationMessage::system("s").role, "system");
}

#[test]
fn test_conversation_message_serialization() {
    assert_eq!(to_json(&ConversationMessage::user("Hello")), json!({"role": "user", "content": "Hello"}));
}

#[test]
fn test_session_start_payload_serialization() {
    assert_eq!(
        to_json(&HookPayload::session_start("/home/user/project", "startup", None)),
        json!({
            "type": "session_start",
            "data": {"cwd": "/home/user/project", "source": "startup", "previous_session_id": null},
        })
    );
}

#[test]
fn test_session_start_with_previous_session() {
    let payload = to_json(&HookPayload::session_start("/p", "resume", Some("prev-session-123".into())));
    assert_eq!(payload["data"]["source"], "resume");
    assert_eq!(payload["data"]["previous_session_id"], "prev-session-123");
}

#[test]
fn test_session_start_roundtrip() {
    let payload = HookPayload::session_start("/tmp", "startup", Some("prev".into()));
    let text = serde_json::to_string(&payload).unwrap();
    assert_eq!(serde_json::from_str::<HookPayload>(&text).unwrap(), payload);
}

#[test]
fn test_pre_tool_use_payload_serialization() {
    let payload = to_json(&HookPayload::pre_tool_use("Read", json!({"file_path": "/tmp/test.rs"}), None));
    assert_eq!(payload["type"], "pre_tool_use");
    assert_eq!(payload["data"]["tool_name"], "Read");
    assert_eq!(payload["data"]["tool_input"]["file_path"], "/tmp/test.rs");
}

#[test]
fn test_pre_tool_use_with_tool_use_id() {
    let payload = HookPayload::pre_tool_use("Bash", json!({"command": "echo"}), Some("tool-123".into()));
    assert_eq!(to_json(&payload)["data"]["tool_use_id"], "tool-123");
}

#[test]
fn test_post_tool_use_success() {
    let payload = to_json(&HookPayload::post_tool_use(
        "Read",
        json!({"file_path": "/tmp/test.rs"}),
        json!({"content": "file contents here"}),
        None,
    ));
    assert_eq!(payload["type"], "post_tool_use");
    assert_eq!(payload["data"]["tool_name"], "Read");
    assert_eq!(payload["data"]["tool_response"]["content"], "file contents here");
}

#[test]
fn test_user_prompt_submit_simple() {
    let payload = to_json(&HookPayload::user_prompt("How do I read a file?", None));
    assert_eq!(payload["type"], "user_prompt_submit");
    assert_eq!(payload["data"]["prompt"], "How do I read a file?");
    assert!(payload["data"]["context"].is_null());
}

#[test]
fn test_user_prompt_submit_with_context() {
    let context = vec![ConversationMessage::user("Hello"), ConversationMessage::assistant("Hi!")];
    let payload = to_json(&HookPayload::user_prompt("Show me an example", Some(context)));
    let messages = payload["data"]["context"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    assert_eq!((&messages[0]["role"], &messages[1]["role"]), (&json!("user"), &json!("assistant")));
}

#[test]
fn test_session_end_normal() {
    assert_eq!(
        to_json(&HookPayload::session_end(3_600_000, "exit")),
        json!({
            "type": "session_end",
            "data": {"duration_ms": 3_600_000, "status": "normal", "reason": "exit"},
        })
    );
}

#[test]
fn test_session_end_user_abort() {
    let payload = to_json(&HookPayload::session_end(1_800_000, "prompt_input_exit"));
    assert_eq!(payload["data"]["status"], "user_abort");
    assert_eq!(payload["data"]["reason"], "prompt_input_exit");
}

fn one_of_each() -> [(HookEventType, HookPayload); 5] {
    [
        (HookEventType::SessionStart, HookPayload::session_start("/p", "startup", None)),
        (HookEventType::PreToolUse, HookPayload::pre_tool_use("Read", json!({}), None)),
        (HookEventType::PostToolUse, HookPayload::post_tool_use("Write", json!({}), json!({}), None)),
        (HookEventType::UserPromptSubmit, HookPayload::user_prompt("Hello!", None)),
        (HookEventType::SessionEnd, HookPayload::session_end(1000, "exit")),
    ]
}

#[test]
fn test_payload_type_checking() {
    for (kind, payload) in one_of_each() {
        let answers = [
            (HookEventType::SessionStart, payload.is_session_start()),
            (HookEventType::PreToolUse, payload.is_pre_tool_use()),
            (HookEventType::PostToolUse, payload.is_post_tool_use()),
            (HookEventType::UserPromptSubmit, payload.is_user_prompt_submit()),
            (HookEventType::SessionEnd, payload.is_session_end()),
        ];
        for (asked, answer) in answers {
            assert_eq!(answer, asked == kind, "{kind:?} asked for {asked:?}");
        }
        assert_eq!(payload.event_type(), kind);
    }
}

#[test]
fn test_tool_name_accessor() {
    let names = one_of_each().map(|(_, payload)| payload.tool_name().map(str::to_owned));
    assert_eq!(names, [None, Some("Read".into()), Some("Write".into()), None, None]);
}

#[test]
fn test_cwd_accessor() {
    let folders = one_of_each().map(|(_, payload)| payload.cwd().is_some());
    assert_eq!(folders, [true, false, false, false, false]);
}

#[test]
fn test_prompt_accessor() {
    let prompts = one_of_each().map(|(_, payload)| payload.prompt().map(str::to_owned));
    assert_eq!(prompts, [None, None, None, Some("Hello!".into()), None]);
}

#[test]
fn test_duration_ms_accessor() {
    let durations = one_of_each().map(|(_, payload)| payload.duration_ms());
    assert_eq!(durations, [None, None, None, None, Some(1000)]);
}

#[test]
fn test_hook_input_new() {
    let input = HookInput::new(HookEventType::SessionStart, "test-session-123", one_of_each()[0].1.clone());
    assert_eq!(
        (input.hook_type, input.session_id.as_str()),
        (HookEventType::SessionStart, "test-session-123")
    );
    assert!(input.timestamp_ms > 0);
    assert_eq!(input.validate(), None);
}

#[test]
fn test_hook_input_full_roundtrip() {
    for (kind, payload) in one_of_each() {
        let mut input = HookInput::with_timestamp(kind, "session-456", 1_705_312_345_678, payload);
        input.cwd = Some("/w".into());
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(HookInput::from_json(&text).unwrap(), input);
        assert_eq!(HookInput::from_object(serde_json::from_str(&text).unwrap()).unwrap(), input);
    }
}

#[test]
fn test_hook_input_validate_empty_session() {
    let [(kind, payload), ..] = one_of_each();
    let input = HookInput::with_timestamp(kind, "", 1, payload);
    assert!(input.validate().unwrap().contains("session_id"));
}

#[test]
fn test_hook_input_validate_negative_timestamp() {
    for timestamp_ms in [-1, 0, i64::MIN] {
        let [(kind, payload), ..] = one_of_each();
        let input = HookInput::with_timestamp(kind, "s", timestamp_ms, payload);
        assert!(input.validate().unwrap().contains("timestamp_ms"));
    }
}

#[test]
fn test_hook_input_validate_type_mismatch() {
    for (kind, _) in one_of_each() {
        for (other, payload) in one_of_each() {
            let input = HookInput::with_timestamp(kind, "session-123", 1, payload);
            let complaint = input.validate();
            assert_eq!(complaint.is_some(), kind != other);
            assert!(complaint.is_none_or(|text| text.contains("does not match")));
        }
    }
}

#[test]
fn test_hook_input_is_fast_path() {
    let budgets = one_of_each().map(|(kind, payload)| {
        let input = HookInput::new(kind, "s", payload);
        (input.is_fast_path(), input.timeout_ms())
    });
    assert_eq!(budgets, [(false, 5000), (true, 100), (false, 3000), (false, 2000), (false, 30000)]);
}

#[test]
fn test_unknown_payload_type_or_hook_type_fails() {
    let good = r#"{"hook_type":"session_end","session_id":"s","timestamp_ms":1,
        "payload":{"type":"session_end","data":{"duration_ms":1,"status":"normal","reason":"exit"}}}"#;
    assert!(HookInput::from_json(good).is_ok());
    for (from, to) in [
        (r#""hook_type":"session_end""#, r#""hook_type":"session_over""#),
        (r#""type":"session_end""#, r#""type":"session_over""#),
        (r#""status":"normal""#, r#""status":"unknown""#),
        (r#""duration_ms":1"#, r#""duration_ms":-1"#),
        (r#""session_id":"s","#, ""),
    ] {
        let bad = good.replace(from, to);
        assert!(HookInput::from_json(&bad).is_err(), "{bad}");
        assert!(HookInput::from_object(serde_json::from_str(&bad).unwrap()).is_err(), "{bad}");
    }
}

#[test]
fn test_extra_fields_are_ignored_and_null_optionals_accepted() {
    let text = r#"{"hook_type":"pre_tool_use","session_id":"s","timestamp_ms":1,"new":1,"cwd":null,
        "payload":{"type":"pre_tool_use","data":{"tool_name":"Read","tool_input":null,"tool_use_id":null,"x":2}}}"#;
    let input = HookInput::from_json(text).unwrap();
    assert_eq!(HookInput::from_object(serde_json::from_str(text).unwrap()).unwrap(), input);
    assert_eq!(input.payload, HookPayload::pre_tool_use("Read", Value::Null, None));
}
