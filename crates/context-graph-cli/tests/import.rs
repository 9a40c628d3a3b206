//! Past transcripts, imported as sessions.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::Place;
use serde_json::{Value, json};

const ONE: &str = "0198c1de-0000-7000-8000-000000000001";
const TWO: &str = "0198c1de-0000-7000-8000-000000000002";
const OTHER: &str = "0198c1de-0000-7000-8000-000000000003";

/// A transcript with a request, a call that succeeded, one that failed and one that was denied.
fn transcript(place: &Place, id: &str, cwd: &Path, prompt: &str) {
    let line = |kind: &str, minute: u32, content: Value, more: Value| {
        let mut line = json!({"type": kind, "sessionId": id, "cwd": cwd, "timestamp": format!("2026-11-01T10:{minute:02}:00Z"),
            "message": {"role": kind, "content": content}});
        line["message"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line.to_string()
    };
    let call = |minute, id: &str, command: &str| {
        line(
            "assistant",
            minute,
            json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]),
            json!({}),
        )
    };
    let result = |minute, id: &str, text: &str, failed: bool| {
        line(
            "user",
            minute,
            json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]),
            json!({}),
        )
    };
    let lines = [
        line("user", 0, json!(prompt), json!({})),
        call(1, "t1", "echo ran"),
        result(2, "t1", "ran", false),
        call(3, "t2", "export TOKEN=ghp_Zx81kQmV0c3RhTnB2eWRrTGd4bUpzQ2Z1aHq"),
        result(4, "t2", "exit code 1", true),
        call(5, "t3", "rm -rf .git"),
        result(6, "t3", "PreToolUse:Bash hook error: no", true),
        line("assistant", 7, json!([{"type": "text", "text": "done"}]), json!({"stop_reason": "end_turn"})),
        json!({"type": "file-history-snapshot"}).to_string(),
    ];
    let folder = place.home().join(".claude/projects/some");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{id}.jsonl")), lines.join("\n")).unwrap();
}

fn list(place: &Place, args: &[&str]) -> Vec<Value> {
    serde_json::from_str(&place.run(&[&["session", "list", "--json"], args].concat()).stdout).unwrap()
}

#[test]
fn sessions_of_this_project_are_taken_in_once_and_marked() {
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "rename the parser module");
    transcript(&place, OTHER, Path::new("/elsewhere"), "another project");
    let first = place.run(&["import"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(
        first.stdout.contains("imported 1 session, ")
            && first.stdout.contains("1 session left out, of other projects"),
        "{first:?}"
    );
    let sessions = list(&place, &[]);
    let session = &sessions[0];
    assert_eq!((sessions.len(), &session["title"]), (1, &json!("rename the parser module")));
    assert_eq!((&session["end_reason"], &session["state"]), (&json!("imported"), &json!("ended")));
    let counted = ["calls", "calls_succeeded", "calls_failed", "calls_denied", "prompts", "turns"];
    let counted = counted.map(|key| session["counters"][key].as_u64().unwrap());
    assert_eq!(counted, [3, 1, 1, 1, 1, 1], "{session}");
    assert_eq!(session["started_ms"], 1_793_527_200_000_i64);
    // Again: existing sessions stay as they are, new ones are added.
    transcript(&place, TWO, &place.project(), "and now the tests");
    let again: Value = serde_json::from_str(&place.run(&["import", "--json"]).stdout).unwrap();
    assert_eq!(
        (&again["imported"], &again["known"], &again["other_projects"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(place.run(&["import", "--all-projects", "--json"]).json()["imported"], 1);
    assert_eq!(list(&place, &[]).len(), 3);
    let verified = place.run(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn no_secret_comes_in_and_calls_can_be_asked_for() {
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "rename the parser module");
    let file = place.home().join(format!(".claude/projects/some/{ONE}.jsonl"));
    assert_eq!(place.run(&["import", file.to_str().unwrap()]).code, 0);
    let shown = place.run(&["audit", "show", "t2", "--full"]).stdout;
    assert!(shown.contains("[redacted:") && !shown.contains("ghp_Zx81"), "{shown}");
    let denied = place.run(&["audit", "log", "--outcome", "denied", "--json"]).stdout;
    assert!(denied.contains("rm -rf .git"), "{denied}");
}

#[test]
fn what_is_no_transcript_takes_nothing_in_and_agents_cannot() {
    let place = Place::without_upkeep();
    let missing = place.run(&["import"]);
    assert!(missing.code == 1 && missing.stderr.contains("projects"), "{missing:?}");
    std::fs::write(place.project().join("x.jsonl"), "{\"type\":\"user\"\nnot json\n").unwrap();
    let nothing = place.run(&["import", "x.jsonl"]);
    assert!(nothing.code == 0 && nothing.stdout.contains("imported 0 sessions"), "{nothing:?}");
    assert!(list(&place, &[]).is_empty());
    let mut agent = place.command(&["import"]);
    agent.env("CLAUDECODE", "1");
    assert!(common::send(agent, b"").stderr.contains("agents cannot"));
}

/// Puts what another client writes down where it does, for the project here.
fn written_by(place: &Place, file: &str, to: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(file);
    let text = std::fs::read_to_string(from).unwrap();
    let to = place.home().join(to);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::write(to, text.replace("/home/ada/orchard", place.project().to_str().unwrap())).unwrap();
}

#[test]
fn rollouts_of_codex_and_chats_of_gemini_are_taken_in_as_their_hooks_would_have_told_them() {
    let place = Place::without_upkeep();
    let rollout = "rollout-2026-11-02T09-00-00-01a1e6db-0000-7000-8000-00000000000c.jsonl";
    written_by(&place, "codex.jsonl", &format!(".codex/sessions/2026/11/02/{rollout}"));
    written_by(&place, "gemini.jsonl", ".gemini/tmp/orchard/chats/session-2026-11-03T09-00-db31c7da.jsonl");
    written_by(&place, "gemini.json", ".gemini/tmp/orchard/chats/session-2026-11-03T09-00-old.json");
    std::fs::write(
        place.home().join(".gemini/tmp/orchard/.project_root"),
        place.project().as_os_str().as_encoded_bytes(),
    )
    .unwrap();
    let run = place.run(&["import"]);
    assert!(run.code == 0 && run.stdout.contains("imported 3 sessions, "), "{run:?}");
    let sessions = list(&place, &[]);
    for (id, client) in [
        ("codex-01a1e6db-0000-7000-8000-00000000000c", "codex"),
        ("gemini-db31c7da-0000-4000-8000-00000000000a", "gemini"),
        ("gemini-db31c7da-0000-4000-8000-00000000000b", "gemini"),
    ] {
        let session = sessions.iter().find(|session| session["session_id"] == id).unwrap();
        assert_eq!((&session["client"], &session["title"]), (&json!(client), &json!("count the pears")));
        let counted = ["calls", "calls_succeeded", "calls_failed", "calls_denied", "prompts", "turns"];
        let counted = counted.map(|key| session["counters"][key].as_u64().unwrap());
        assert_eq!(counted, [4, 2, 1, 1, 1, 1], "{session}");
    }
    let log = place.run(&["audit", "log", "--json", "--tool", "Bash"]).stdout;
    assert_eq!(log.matches("wc -l pears.txt").count(), 3, "{log}");
    let again = place.run(&["import"]);
    assert!(again.stdout.contains("3 sessions already there"), "{again:?}");
    let shown = place.run(&["replay", place.home().join(".codex/sessions").to_str().unwrap()]);
    assert!(shown.code == 0 && shown.stdout.contains("count the pears"), "{shown:?}");
}
