//! How long calls and sessions took, and how sessions ended.

use serde_json::{Value, json};

use crate::common::{Place, Run};
use crate::{answer, envelope, native, show};

fn ended(place: &Place, data: &Value) -> Run {
    place.send(&["hooks", "session-end", "--stdin"], envelope("session_end", data))
}

#[test]
fn durations_are_those_of_the_sender_with_ours_beside_them() {
    let place = Place::new();
    let call = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}, "duration_ms": 4321});
    place.send(&["hooks", "post-tool"], envelope("post_tool_use", &call)).succeeded();
    let log = answer(&place, &["audit", "log", "--json", "--tool", "*"]);
    assert_eq!(log[0]["duration_ms"], 4321, "{log}");

    let end =
        ended(&place, &json!({"duration_ms": 3_600_000, "status": "normal", "reason": "exit"})).succeeded();
    let summary = end["session_summary"].as_str().unwrap();
    assert!(summary.contains("1 h 0 min") && summary.contains("measured"), "{summary}");
    let shown = show(&place);
    assert_eq!((&shown["duration_ms"], &shown["measured_duration_ms"]), (&json!(3_600_000), &json!(0)));
    assert!(place.run(&["session", "list"]).stdout.contains("1 h 0 min"));
    assert!(place.run(&["audit", "log"]).stdout.contains("3600000 ms"), "{:?}", place.run(&["audit", "log"]));
}

#[test]
fn the_summary_is_told_in_words_too() {
    let place = Place::new();
    let told = |summary: &str| {
        let flags = ["hooks", "session-end", "--session-id", "s", "--format", "text", summary];
        place.run(&[&flags[..], &["--duration-ms", "3600000"]].concat()).stdout
    };
    let text = told("--generate-summary");
    assert!(text.contains("0 turns in 1 h 0 min") && text.contains("\nended: normal (exit)\n"), "{text}");
    let text = told("--generate-summary=false");
    assert!(text.starts_with("ok\n") && !text.contains("1 h 0 min"), "{text}");
}

#[test]
fn the_flag_for_the_duration_counts_where_stdin_does_not_say() {
    let place = Place::new();
    let native = json!({"hook_event_name": "SessionEnd", "session_id": "s", "transcript_path": "", "cwd": "",
        "reason": "clear"});
    place.send(&["hooks", "session-end", "--duration-ms", "90000"], native.to_string()).succeeded();
    let shown = show(&place);
    assert_eq!((&shown["duration_ms"], &shown["end_status"]), (&json!(90_000), &json!("clear")));
    let run = place.send(
        &["hooks", "session-end", "--duration-ms", "7"],
        envelope("session_end", &json!({"duration_ms": 8, "status": "normal", "reason": "exit"})),
    );
    assert!(run.failed("validation").contains("--duration-ms"));
}

#[test]
fn how_a_session_ended_is_kept_and_told() {
    for status in ["normal", "timeout", "error", "user_abort", "clear", "logout"] {
        let place = Place::new();
        place
            .run(&["hooks", "prompt-submit", "--session-id", "s", "--prompt", "tidy the parser"])
            .succeeded();
        ended(&place, &json!({"duration_ms": 1, "status": status, "reason": "exit"})).succeeded();
        let shown = show(&place);
        assert_eq!((&shown["end_status"], &shown["end_reason"]), (&json!(status), &json!("exit")));
        for told in [
            &["session", "list"][..],
            &["session", "show", "s"],
            &["session", "status", "s"],
            &["audit", "log"],
        ] {
            let text = place.run(told).stdout;
            assert!(text.contains(&format!("{status} (exit)")), "{told:?}: {text}");
        }
        let otlp = place.run(&["audit", "export", "--format", "otlp-json"]).stdout;
        assert!(otlp.contains("context_graph.end_status"), "{otlp}");
        let next = place.run(&["hooks", "session-start", "--session-id", "next"]).succeeded();
        let injected = next["context_injection"].as_str().unwrap_or("").contains("It ended ");
        assert_eq!(injected, ["timeout", "error", "user_abort"].contains(&status), "{status}: {next}");
        let exported = place.run(&["session", "export", "s"]).stdout;
        assert!(exported.contains(&format!("\"status\":\"{status}\"")), "{exported}");
    }
}

#[test]
fn the_clients_reason_for_the_end_maps_to_a_status() {
    for (reason, status) in
        [("clear", "clear"), ("logout", "logout"), ("prompt_input_exit", "user_abort"), ("other", "error")]
    {
        let place = Place::new();
        let native = json!({"hook_event_name": "SessionEnd", "session_id": "s", "transcript_path": "", "cwd": "",
            "reason": reason});
        place.send(&["hooks", "event"], native.to_string()).succeeded();
        assert_eq!(show(&place)["end_status"], status);
    }
}

#[test]
fn a_duration_below_nothing_is_an_error_that_names_the_field() {
    let place = Place::new();
    let event = native(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "tool_response": {}, "duration_ms": -1}),
    );
    let error = place.send(&["hooks", "event"], event).failed("parse");
    assert!(error.contains("duration_ms") && error.contains("0 or more"), "{error}");
}
