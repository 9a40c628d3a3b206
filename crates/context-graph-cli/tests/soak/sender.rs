//! Sends one event as the client does, with faults that may hit the process.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::ledger::Fate;
use crate::{acknowledged, binary};

/// An event, and the mark that identifies it.
pub(crate) struct Event {
    pub(crate) mark: String,
    pub(crate) session: String,
    pub(crate) command: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// One event of a typical session.
pub(crate) fn event(number: u64, session: &str, chance: &mut Chance) -> Event {
    let mark = format!("mark-{number:08}-");
    let base =
        json!({"session_id": session, "transcript_path": "/t", "cwd": "/c", "permission_mode": "default"});
    let filler = "x".repeat(usize::try_from(chance.below(800)).unwrap());
    let call = |more: Value| {
        let mut call = json!({"tool_name": "Bash", "tool_use_id": mark, "tool_input": {"command": format!("echo {filler}")}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    };
    let (name, more) = match chance.below(100) {
        0..40 => ("PreToolUse", call(json!({}))),
        40..78 => ("PostToolUse", call(json!({"tool_response": {"stdout": filler}}))),
        78..82 => ("PostToolUseFailure", call(json!({"error": filler, "is_interrupt": false}))),
        82..88 => ("UserPromptSubmit", json!({"prompt": format!("{mark} {filler}")})),
        88..93 => ("Stop", json!({"stop_hook_active": false, "last_assistant_message": mark})),
        93..95 => ("PreCompact", json!({"trigger": "manual", "custom_instructions": mark})),
        95..97 => ("SessionStart", json!({"source": "resume", "model": mark})),
        97..98 => ("SessionEnd", json!({"reason": "other", "note": mark})),
        _ => return from_the_past(mark, session, chance),
    };
    let mut payload = base;
    payload["hook_event_name"] = name.into();
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Event { mark, session: session.to_owned(), command: "event", bytes: payload.to_string().into_bytes() }
}

/// An event whose clock was set back by up to a year.
fn from_the_past(mark: String, session: &str, chance: &mut Chance) -> Event {
    let timestamp_ms = 1_795_000_000_000 - chance.below(31_536_000_000);
    let envelope = json!({"hook_type": "user_prompt_submit", "session_id": session, "timestamp_ms": timestamp_ms,
        "payload": {"type": "user_prompt_submit", "data": {"prompt": mark, "context": []}}});
    Event {
        mark,
        session: session.to_owned(),
        command: "prompt-submit",
        bytes: envelope.to_string().into_bytes(),
    }
}

/// Sends the event to a new process, with a possible fault.
pub(crate) fn send(project: &Path, event: &Event, chance: &mut Chance) -> Fate {
    let mut command = binary(project, &["hooks", event.command, "--stdin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    match chance.below(1000) {
        0..40 => killed(child, event, Signal::KILL, chance),
        40..60 => killed(child, event, Signal::TERM, chance),
        60..75 => {
            // Nobody reads the answer.
            drop(child.stdout.take());
            give(&mut child, &event.bytes);
            let _ = child.wait();
            Fate::Unheard
        }
        75..85 => {
            // The client dies after half of the event.
            give(&mut child, &event.bytes[..event.bytes.len() / 2]);
            heard(child)
        }
        85..88 => never_ending(child, event),
        _ => {
            give(&mut child, &event.bytes);
            heard(child)
        }
    }
}

fn give(child: &mut Child, bytes: &[u8]) {
    // The child may be gone already.
    let _ = child.stdin.take().unwrap().write_all(bytes);
}

fn heard(child: Child) -> Fate {
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if stdout.contains("panic") || stderr.contains("panic") {
        return Fate::Panicked(format!("{stdout}{stderr}"));
    }
    acknowledged(output.status.code(), &stdout)
}

fn killed(mut child: Child, event: &Event, signal: Signal, chance: &mut Chance) -> Fate {
    give(&mut child, &event.bytes);
    std::thread::sleep(Duration::from_micros(chance.below(3000)));
    let _ = kill_process(Pid::from_child(&child), signal);
    // The process may have ended before the signal.
    heard(child)
}

/// Stdin stays open without more input: the timeout ends the hook.
fn never_ending(mut child: Child, event: &Event) -> Fate {
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(&event.bytes[..event.bytes.len() - 1]);
    let mut answer = String::new();
    let _ = child.stdout.take().unwrap().read_to_string(&mut answer);
    let code = child.wait().unwrap().code();
    drop(stdin);
    acknowledged(code, &answer)
}
