//! How a session begins, continues and ends.

use serde_json::{Value, json};

use crate::common::{Place, recorded};
use crate::{call, end, events_of, prompt, show, start, status};

#[test]
fn a_session_is_begun_worked_in_ended_and_told() {
    let place = Place::new();
    start(&place, "one", "startup");
    assert_eq!(status(&place, "one")["state"], "active");
    prompt(&place, "one", "rename the parser module");
    assert_eq!(status(&place, "one")["state"], "processing");
    call(&place, "one", "t1", "cargo test");
    call(&place, "one", "t2", "git status");
    assert_eq!(status(&place, "one")["state"], "active");
    let ended = end(&place, "one");
    assert!(ended["session_summary"].as_str().unwrap().contains("2 tool calls (2 succeeded"), "{ended}");

    let story = show(&place, "one");
    assert_eq!(
        events_of(&story),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PreToolUse",
            "PostToolUse",
            "SessionEnd",
            "context-graph:dream"
        ]
    );
    assert_eq!(story["state"], "ended");
    assert_eq!(story["end_reason"], "other");
    assert_eq!(story["counters"]["calls_asked"], 2);
    let sequence: Vec<u64> =
        story["events"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=8).collect::<Vec<_>>());
}

/// Claude Code has no event for the title of a session. It only writes the title to the transcript.
#[test]
fn a_session_has_the_title_that_claude_code_gave_it() {
    let place = Place::new();
    let transcript = place.home().join("t.jsonl");
    let send = |event: &str, own: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "one", "transcript_path": transcript, "cwd": place.project()});
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        place.send(&["hooks", "event"], payload.to_string()).succeeded();
    };
    let title = || status(&place, "one")["title"].clone();
    let stop = || send("Stop", json!({"stop_hook_active": false}));
    send("SessionStart", json!({"source": "startup"}));
    send("UserPromptSubmit", json!({"prompt": "rename the parser module"}));
    stop();
    assert_eq!(title(), "rename the parser module");
    let long = json!({"type": "attachment", "text": "x".repeat(100_000)});
    let made = json!({"type": "ai-title", "aiTitle": "Parser renaming", "sessionId": "one"});
    std::fs::write(&transcript, format!("{long}\n{made}\n")).unwrap();
    stop();
    stop();
    assert_eq!(title(), "Parser renaming");
    let own = json!({"type": "custom-title", "customTitle": "TOKEN=ghp_Zx81kQmV0c3RhTnB2eWRrTGd4bUpzQ2Z1aHq", "sessionId": "one"});
    std::fs::write(&transcript, format!("{made}\n{own}\n")).unwrap();
    stop();
    send("SessionEnd", json!({"reason": "other"}));
    let title = title().as_str().unwrap().to_owned();
    assert!(title.contains("[redacted:") && !title.contains("ghp_"), "{title}");
    let story = show(&place, "one");
    assert_eq!(events_of(&story).iter().filter(|event| **event == "SessionTitled").count(), 2, "{story}");
    assert_eq!(story["state"], "ended");
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    // The only title that Claude Code sends in an event.
    send("SessionStart", json!({"source": "resume", "session_title": "by name"}));
    assert_eq!(status(&place, "one")["title"], "by name");
}

#[test]
fn the_recorded_payloads_make_a_session() {
    let place = Place::new();
    let files = recorded();
    for (_, bytes) in &files {
        place.send(&["hooks", "event"], bytes);
    }
    let story = show(&place, "00000000-0000-4000-8000-000000000001");
    assert_eq!(story["counters"]["events"], events_of(&story).len());
    assert!(events_of(&story).len() >= files.len() - 2, "{}", events_of(&story).len());
}

#[test]
fn a_new_session_is_linked_to_the_latest_of_its_project() {
    let place = Place::new();
    start(&place, "first", "startup");
    assert_eq!(status(&place, "first").get("previous_session_id"), None);
    end(&place, "first");
    start(&place, "second", "startup");
    let second = status(&place, "second");
    assert_eq!(second["previous_session_id"], "first");
    assert_eq!(second["link_origin"], "latest_of_project");
    end(&place, "second");
    start(&place, "third", "clear");
    assert_eq!(status(&place, "third")["previous_session_id"], "second");
    start(&place, "fork", "fork");
    assert_eq!(
        (&status(&place, "fork")["previous_session_id"], &status(&place, "fork")["link_origin"]),
        (&json!("third"), &json!("fork"))
    );
}

#[test]
fn a_session_that_resumes_or_compacts_goes_on_as_itself() {
    let place = Place::new();
    start(&place, "a", "startup");
    prompt(&place, "a", "hello");
    end(&place, "a");
    start(&place, "b", "startup");
    for source in ["resume", "compact"] {
        start(&place, "a", source);
        let a = status(&place, "a");
        assert_eq!(a.get("previous_session_id"), None, "{source}");
        assert_eq!(a["counters"]["prompts"], 1);
    }
}

#[test]
fn a_named_previous_session_wins() {
    let place = Place::new();
    start(&place, "a", "startup");
    start(&place, "b", "startup");
    place.run(&["hooks", "session-start", "--session-id", "c", "--previous-session-id", "a"]).succeeded();
    assert_eq!(status(&place, "c")["previous_session_id"], "a");
    let envelope = json!({"hook_type": "session_start", "session_id": "d", "timestamp_ms": 1_705_312_345_678_i64,
        "payload": {"type": "session_start", "data": {"cwd": "/p", "source": "startup", "previous_session_id": "b"}}});
    place.send(&["hooks", "session-start", "--stdin"], envelope.to_string()).succeeded();
    assert_eq!(
        (&status(&place, "d")["previous_session_id"], &status(&place, "d")["link_origin"]),
        (&json!("b"), &json!("named"))
    );
}

#[test]
fn an_event_of_a_session_never_started_starts_it() {
    let place = Place::new();
    call(&place, "sudden", "t", "ls");
    let sudden = status(&place, "sudden");
    assert_eq!((&sudden["state"], &sudden["counters"]["calls_asked"]), (&json!("active"), &json!(1)));
}

#[test]
fn an_event_after_the_end_reopens_the_session_and_says_so() {
    let place = Place::new();
    start(&place, "s", "startup");
    prompt(&place, "s", "hello");
    end(&place, "s");
    let again = prompt(&place, "s", "one more thing");
    assert!(again["notices"][0].as_str().unwrap().contains("open again"), "{again}");
    let s = status(&place, "s");
    assert_eq!((&s["counters"]["reopenings"], &s["counters"]["prompts"]), (&json!(1), &json!(2)));
    assert_eq!(s.get("ended_ms"), None);
    end(&place, "s");
    assert_eq!(status(&place, "s")["state"], "ended");
}

#[test]
fn the_duration_is_counted_from_the_stored_start() {
    let place = Place::new();
    let at = |kind: &str, ms: i64, data: Value| {
        let envelope = json!({"hook_type": kind, "session_id": "s", "timestamp_ms": ms,
            "payload": {"type": kind, "data": data}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded()
    };
    at("session_start", 1_700_000_000_000, json!({"cwd": "/p", "source": "startup"}));
    at("session_end", 1_700_000_065_000, json!({"duration_ms": 0, "status": "normal", "reason": "exit"}));
    assert_eq!(status(&place, "s")["duration_ms"], 65_000);
}

#[test]
fn a_clock_that_jumps_back_does_not_shorten_a_session() {
    let place = Place::new();
    let at = |ms: i64, text: &str| {
        let envelope = json!({"hook_type": "user_prompt_submit", "session_id": "s", "timestamp_ms": ms,
            "payload": {"type": "user_prompt_submit", "data": {"prompt": text}}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded()
    };
    at(1_700_000_010_000, "a");
    at(1_700_000_020_000, "b");
    at(1_600_000_000_000, "c");
    let s = status(&place, "s");
    assert_eq!((&s["duration_ms"], &s["counters"]["prompts"]), (&json!(10_000), &json!(3)));
}
