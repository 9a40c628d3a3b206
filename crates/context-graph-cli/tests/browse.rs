//! `context-graph browse` on a real terminal.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::json;

/// A session with words that would control a terminal.
fn worked_in() -> Place {
    let place = Place::without_upkeep();
    let send = |name: &str, own: serde_json::Value| {
        let mut payload = json!({"hook_event_name": name, "session_id": "s1", "transcript_path": "/t", "cwd": place.project()});
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        place.send(&["hooks", "event"], payload.to_string()).succeeded();
    };
    send("SessionStart", json!({"source": "startup"}));
    send("UserPromptSubmit", json!({"prompt": "rename the parser \u{1b}]0;owned\u{7}\u{1b}[2J module"}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "echo \u{1b}]52;c;b3duZWQ=\u{7}hello"}, "tool_use_id": "t1"});
    send("PreToolUse", call.clone());
    let mut done = call;
    done["tool_response"] = json!({"stdout": "hello", "stderr": "", "interrupted": false});
    send("PostToolUse", done);
    place
}

/// Enters and leaves a terminal's alternate screen.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

fn is_left_clean(shown: &str) {
    let last = |what: &str| shown.rfind(what).unwrap_or_else(|| panic!("no {what:?} in {shown:?}"));
    assert!(last(LEAVE) > last(ENTER), "{shown:?}");
    assert!(last("\x1b[?25h") > last("\x1b[?25l"), "the cursor is back: {shown:?}");
}

#[test]
fn a_call_is_found_copied_and_opened() {
    let place = worked_in();
    let mut command = place.command(&["browse"]);
    command.env("TERM", "xterm-256color").env("PAGER", "/bin/cat -A");
    let mut screen = common::terminal::OnTerminal::start(command, 60);
    // The terminal skips blanks by moving the cursor, so we wait for single words.
    screen.expect("quit").press("/hello\ry");
    // `s1:3`, which the terminal puts on the clipboard.
    screen.expect("\x1b]52;c;czE6Mw==").expect("copied");
    screen.press("\r").expect("Claude Code reported the result$").press("q");
    let run = screen.end();
    assert_eq!(run.code, 0, "{run:?}");
    is_left_clean(&run.stdout);
    assert!(!run.stdout.contains("\x1b]0;owned") && !run.stdout.contains("\x1b]52;c;b3duZWQ="), "{run:?}");
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let place = worked_in();
    for args in [&["browse"][..], &["audit"]] {
        let mut screen = place.on_terminal(args, 100);
        screen.expect("quit").interrupt();
        let run = screen.end();
        assert_eq!(run.code, 0, "{run:?}");
        is_left_clean(&run.stdout);
    }
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let place = worked_in();
    for args in [&["browse"][..], &["audit"]] {
        let run = place.run(args);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("audit log"), "{run:?}");
    }
    let mut dumb = place.command(&["browse"]);
    dumb.env("TERM", "dumb");
    let run = common::terminal::OnTerminal::start(dumb, 80).end();
    assert!(run.code == 1 && run.stdout.contains("audit log"), "{run:?}");
}

#[test]
fn a_project_without_sessions_has_nothing_to_browse() {
    let run = Place::new().on_terminal(&["browse"], 80).end();
    assert!(run.code == 0 && run.stdout.contains("no sessions yet"), "{run:?}");
}
