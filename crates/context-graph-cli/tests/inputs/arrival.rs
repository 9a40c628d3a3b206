//! How input arrives: not at all, or in a form that the error message names.

use serde_json::{Value, json};

use crate::common::Place;
use crate::envelope;
use crate::results::{done, post};

#[test]
fn stdin_is_left_alone_where_that_is_said() {
    let place = Place::new();
    let flags = ["hooks", "prompt-submit", "--session-id", "a", "--prompt", "hello", "--stdin=false"];
    let other = envelope("user_prompt_submit", &json!({"prompt": "something else"}));
    place.send(&flags, &other).succeeded();
    let shown = place.run(&["session", "list", "--json"]).stdout;
    assert!(shown.contains("\"a\"") && !shown.contains("\"s\""), "{shown}");
    let error = place.send(&["hooks", "event", "--stdin=false"], &other).failed("usage");
    assert!(error.contains("--stdin=false"), "{error}");
}

#[test]
fn what_is_said_names_the_form_that_was_sent_and_counts_in_words() {
    let place = Place::new();
    let start = envelope("session_start", &json!({"cwd": "/p", "source": "startup"}));
    let error = place.send(&["hooks", "post-tool"], &start).failed("validation");
    assert!(error.contains("hook_type is session_start") && error.contains("post_tool_use"), "{error}");
    let long = json!({"hook_event_name": "Stop", "session_id": "x".repeat(300), "transcript_path": "", "cwd": "",
        "stop_hook_active": false});
    let error = place.send(&["hooks", "event"], long.to_string()).failed("validation");
    assert!(error.contains("session_id: it has 300 bytes"), "{error}");

    let prompt = envelope("user_prompt_submit", &json!({"prompt": "hello"}));
    place.send(&["hooks", "prompt-submit"], prompt).succeeded();
    post(&place, &[], &done(&json!({"interrupted": true}))).succeeded();
    place.run(&["hooks", "post-tool", "--session-id", "s", "--tool-name", "Glob"]).succeeded();
    let resumed = envelope("session_start", &json!({"cwd": "/p", "source": "resume"}));
    let told = place.send(&["hooks", "session-start"], resumed).succeeded();
    assert!(told.to_string().contains("has 1 prompt and 2 tool calls"), "{told}");
    let shown = place.run(&["session", "show", "s"]).stdout;
    assert!(shown.contains("Bash interrupted"), "{shown}");
    let entries = place.run(&["audit", "log"]).stdout;
    assert!(entries.contains("Glob") && !entries.contains("null"), "{entries}");
}

/// Uses the types by their paths, so it only compiles if they are there.
#[test]
fn the_types_of_the_contract_are_at_its_paths() {
    use context_graph_cli::commands::hooks::{
        ConversationMessage, HookEventType, HookInput, HookPayload, NewEnvelope as _, SessionEndStatus,
    };
    let status = |end: &HookPayload| match end {
        HookPayload::SessionEnd { status, .. } => *status,
        other => panic!("{other:?}"),
    };
    for (reason, expected) in [
        ("exit", SessionEndStatus::Normal),
        ("clear", SessionEndStatus::Clear),
        ("logout", SessionEndStatus::Logout),
        ("prompt_input_exit", SessionEndStatus::UserAbort),
        ("other", SessionEndStatus::Error),
    ] {
        let end = HookInput::new(HookEventType::SessionEnd, "s", HookPayload::session_end(1, reason));
        assert_eq!((end.validate(), status(&end.payload)), (None, expected));
        let sent: Value = serde_json::to_value(&end).unwrap();
        assert_eq!(sent["payload"]["data"]["status"], expected.as_str());
        let place = Place::new();
        place.send(&["hooks", "session-end"], sent.to_string()).succeeded();
        let listed = place.run(&["session", "list", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed[0]["end_status"], expected.as_str(), "{listed}");
    }
    let context = Some(vec![ConversationMessage::user("before")]);
    let prompt = HookPayload::user_prompt("hello", context);
    let sent = HookInput::new(HookEventType::UserPromptSubmit, "s", prompt);
    Place::new().send(&["hooks", "prompt-submit"], serde_json::to_string(&sent).unwrap()).succeeded();
}
