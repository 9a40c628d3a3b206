//! Hooks that run out of time: the payload does not arrive, or the session is in use.

use std::fs::File;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use crate::common::{Place, Run};

/// The answer for an event whose sender sends these pieces and then neither sends more nor closes the pipe.
fn stalled(pieces: &[&str]) -> Run {
    let place = Place::new();
    let mut child = place.command(&["hooks", "event"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in pieces {
        stdin.write_all(piece.as_bytes()).unwrap();
        stdin.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_call_that_does_not_arrive_whole_in_time_asks() {
    let stop = std::thread::spawn(|| stalled(&[r#"{"hook_event_name":"Stop","#, r#""session_id":"x""#]));
    // The event's name may be cut in two. A piece that ends with a brace need not be the whole payload, and the pipe may
    // stay open after the whole payload.
    let cut = std::thread::spawn(|| stalled(&[r#"{"hook_event_name":"PreTo"#, r#"olUse","session_id":"x""#]));
    let open = std::thread::spawn(|| {
        stalled(&[r#"{"hook_event_name":"PreToolUse","tool_input":{"command":"ls"}}"#])
    });
    let brace = stalled(&[
        r#"{"hook_event_name":"PreToolUse","tool_input":{"command":"ls"}"#,
        r#","session_id":"x""#,
    ]);
    for late in [cut.join().unwrap(), open.join().unwrap(), brace] {
        let answer = late.json();
        assert_eq!((late.code, &answer["error_code"]), (1, &json!("timeout")), "{late:?}");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{late:?}");
        assert!(late.stderr.contains("a pipe that is never closed"), "{late:?}");
    }
    let late = stop.join().unwrap().json();
    assert_eq!((&late["error_code"], late.get("hookSpecificOutput")), (&json!("timeout"), None), "{late}");
}

#[test]
fn a_call_on_the_full_road_stays_allowed_if_only_its_record_is_late() {
    let place = Place::new();
    place.run(&["hooks", "prompt-submit", "--session-id=s", "--prompt=tidy the parser"]).succeeded();
    let state =
        File::options().write(true).open(place.project().join(".context-graph/live/s.state")).unwrap();
    state.lock().unwrap();
    let run = place.run(&["hooks", "pre-tool", "--session-id=s", "--tool-name=Read", "--fast-path=false"]);
    assert_eq!(run.code, 0, "with exit 1 a client that was told to would block it: {run:?}");
    let answer = run.json();
    assert_eq!(answer["success"], false, "{answer}");
    assert_eq!(answer.get("hookSpecificOutput"), None, "{answer}");
    assert!(answer["systemMessage"].as_str().unwrap_or_default().contains("not on record"), "{answer}");
}
