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
    assert_eq!(session["end_status"], "normal");
    #[cfg(unix)]
    {
        let shown = place.on_terminal(&["session", "list"], 100).end().stdout;
        assert!(shown.contains("imported"), "also where there is no room for how it ended: {shown}");
    }
    let log = place.run(&["audit", "log", "--event", "SessionEnd"]).stdout;
    assert!(log.contains("imported") && !log.contains("error"), "{log}");
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

/// Adds lines to the transcript of a session.
fn add(place: &Place, id: &str, lines: &[Value]) {
    let file = place.home().join(format!(".claude/projects/some/{id}.jsonl"));
    let mut text = std::fs::read_to_string(&file).unwrap();
    for line in lines {
        text.push('\n');
        text.push_str(&line.to_string());
    }
    std::fs::write(file, text).unwrap();
}

#[test]
fn the_title_that_claude_code_gave_is_the_sessions() {
    let place = Place::without_upkeep();
    let project = place.project();
    for (id, prompt) in [(ONE, "one prompt"), (TWO, "two prompt"), (OTHER, "three prompt")] {
        transcript(&place, id, &project, prompt);
    }
    let made = json!({"type": "ai-title", "aiTitle": "Rename the parser", "sessionId": ONE});
    add(
        &place,
        ONE,
        &[made.clone(), json!({"type": "ai-title", "aiTitle": "Not its own", "sessionId": TWO}), made],
    );
    // The newest title from the user wins. A summary belongs to the message that it names.
    add(
        &place,
        TWO,
        &[
            json!({"type": "custom-title", "customTitle": "first try", "sessionId": TWO}),
            json!({"type": "custom-title", "customTitle": "nightly \u{1b}[31mbuild", "sessionId": TWO}),
            json!({"type": "ai-title", "aiTitle": "Something made", "sessionId": TWO}),
        ],
    );
    add(
        &place,
        OTHER,
        &[
            json!({"type": "user", "uuid": "m-1", "sessionId": OTHER, "cwd": project, "message": {"content": "more"}}),
            json!({"type": "summary", "summary": "Pears counted", "leafUuid": "m-1"}),
            json!({"type": "summary", "summary": "Of another session", "leafUuid": "m-2"}),
        ],
    );
    let imported = place.run(&["import"]);
    assert!(imported.code == 0 && imported.stdout.contains("imported 3 sessions"), "{imported:?}");
    assert!(
        imported.stderr.contains("reading the transcripts in ")
            && imported.stderr.contains(".claude/projects")
    );
    let sessions = list(&place, &[]);
    for (id, title) in [(ONE, "Rename the parser"), (TWO, "nightly build"), (OTHER, "Pears counted")] {
        let session = sessions.iter().find(|session| session["session_id"] == id).unwrap();
        assert_eq!(session["title"], title, "{session}");
        for verb in [["session", "show"], ["session", "status"]] {
            let shown = place.run(&[verb[0], verb[1], id]).stdout;
            assert!(shown.contains(title), "{verb:?}: {shown}");
        }
        assert!(place.run(&["audit", "log", "--session", id]).stdout.contains(title));
        assert!(place.run(&["replay"]).stdout.contains(title));
    }
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    assert!(!place.run(&["audit", "log", "--all"]).stdout.contains("could not"));
}

#[test]
fn what_claude_code_notes_of_a_refusal_counts_whatever_the_text_says() {
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "count the fruit");
    let call = |id: &str, noted: Value| {
        let common = json!({"sessionId": ONE, "cwd": place.project(), "timestamp": "2026-11-01T10:09:00Z"});
        let mut asked = common.clone();
        asked["type"] = json!("assistant");
        asked["message"] =
            json!({"content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]});
        let mut answered = common;
        answered["type"] = json!("user");
        answered["message"] = json!({"content": [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": "would do harm"}]});
        answered.as_object_mut().unwrap().extend(noted.as_object().unwrap().clone());
        [asked, answered]
    };
    add(
        &place,
        ONE,
        &call(
            "asked",
            json!({"permissionDecision": {"decision": "reject"}, "toolDenialKind": "user-rejected"}),
        ),
    );
    add(&place, ONE, &call("older", json!({"toolDenialKind": "user-rejected"})));
    add(&place, ONE, &call("failed", json!({"permissionDecision": {"decision": "accept"}})));
    assert_eq!(place.run(&["import"]).code, 0);
    let counters = list(&place, &[])[0]["counters"].clone();
    let counted = ["calls", "calls_succeeded", "calls_failed", "calls_denied"];
    assert_eq!(counted.map(|key| counters[key].as_u64().unwrap()), [6, 1, 2, 3], "{counters}");
    // No hook ran, so none has a cost.
    let stats = place.run(&["audit", "stats", "--json"]).json();
    assert_eq!(stats["hooks"], json!([]), "{stats}");
    assert!(!place.run(&["audit", "show", "asked"]).stdout.contains("our hook"));
}

#[test]
fn what_was_forgotten_stays_forgotten() {
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "count the fruit");
    assert_eq!(place.run(&["import"]).code, 0);
    assert_eq!(place.run(&["session", "forget", ONE, "--yes"]).code, 0);
    let again = place.run(&["import"]);
    assert!(again.stdout.contains("1 session left out, forgotten or pruned here"), "{again:?}");
    assert!(list(&place, &[]).is_empty());
    assert_eq!(place.run(&["import", "--forgotten", "--json"]).json()["imported"], 1);
    assert_eq!(list(&place, &[]).len(), 1);
}

/// The transcript of a subagent, with a call that the session's own transcript has too and one of its own.
fn subagents(place: &Place, folder: &str, agent: &str, session: &str) {
    let folder = place.home().join(".claude/projects/some").join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let line = |kind: &str, second: u32, content: Value| {
        json!({"type": kind, "isSidechain": true, "agentId": agent, "sessionId": session, "cwd": place.project(),
            "timestamp": format!("2026-11-01T10:01:{second:02}Z"), "message": {"role": kind, "content": content}})
        .to_string()
    };
    let own = format!("t-{agent}");
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "wc -l pears"}}]);
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "3 pears"}]);
    let end = |text: &str| {
        let mut end: Value =
            serde_json::from_str(&line("assistant", 9, json!([{"type": "text", "text": text}]))).unwrap();
        end["message"]["stop_reason"] = json!("end_turn");
        end.to_string()
    };
    let lines = [
        line("user", 1, json!("count the pears for me")),
        line("assistant", 2, call("t1")),
        line("user", 3, result("t1")),
        line("assistant", 4, call(&own)),
        line("user", 5, result(&own)),
        end("three"),
    ];
    std::fs::write(folder.join(format!("agent-{agent}.jsonl")), lines.join("\n")).unwrap();
    let about = json!({"agentType": "Explore", "description": "count"});
    std::fs::write(folder.join(format!("agent-{agent}.meta.json")), about.to_string()).unwrap();
}

#[test]
fn calls_of_subagents_are_their_sessions_and_come_in_once() {
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "count the fruit");
    subagents(&place, &format!("{ONE}/subagents"), "new1", ONE);
    // Where earlier versions of Claude Code put them, and one whose session is gone.
    subagents(&place, "", "old1", ONE);
    subagents(&place, &format!("{TWO}/subagents"), "lost1", TWO);
    let imported = place.run(&["import", "--json"]).json();
    assert_eq!((&imported["imported"], &imported["lines_refused"]), (&json!(1), &json!(0)), "{imported}");
    assert_eq!(imported["empty"], 1, "{imported}");
    let session = &list(&place, &[])[0];
    let counted = ["calls", "calls_succeeded", "calls_failed", "calls_denied", "prompts", "turns"];
    let counted = counted.map(|key| session["counters"][key].as_u64().unwrap());
    assert_eq!(counted, [5, 3, 1, 1, 1, 1], "{session}");
    for agent in ["new1", "old1"] {
        let call = place.run(&["audit", "show", &format!("t-{agent}"), "--json"]).stdout;
        assert!(call.contains(&format!("\"{agent}\"")) && call.contains("Explore"), "{call}");
        let log = place.run(&["audit", "log", "--json", "--all", "--agent", agent]).stdout;
        assert!(log.contains("SubagentStart") && log.contains("SubagentStop"), "{log}");
    }
    // Ordered by time: the subagents work while the session's first call runs.
    let log = place.run(&["audit", "log", "--json", "--all", "--tool", "Bash"]).stdout;
    let at = |id: &str| log.find(&format!("\"{id}\"")).unwrap_or_else(|| panic!("{id} in {log}"));
    assert!(
        at("t2") < at("t-new1") && at("t-new1") < at("t1")
            || at("t1") < at("t-new1") && at("t-new1") < at("t2")
    );
    assert_eq!(place.run(&["import", "--json"]).json()["known"], 1);
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    // One of several named files is enough to find the others, and a replay counts the same.
    let file = place.home().join(format!(".claude/projects/some/{ONE}.jsonl"));
    let replayed = place.run(&["replay", file.to_str().unwrap()]).stdout;
    assert!(replayed.contains("5 tool calls") || replayed.contains("5 calls"), "{replayed}");
}

/// Puts another client's transcript where that client writes it, adapted to this project.
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

#[test]
fn an_installation_offers_the_past_sessions_of_its_project_once() {
    let place = Place::without_upkeep();
    let init = |place: &Place| place.run(&["init", "--yes"]).stdout;
    assert!(!init(&place).contains("context-graph import"), "there are none");
    let place = Place::without_upkeep();
    transcript(&place, ONE, &place.project(), "rename the parser module");
    let root = place.project().canonicalize().unwrap();
    let name: String =
        root.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = place.home().join(".claude/projects").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("old.jsonl"), "").unwrap();
    let told = init(&place);
    assert!(
        told.contains("1 past session of this project can be taken in: `context-graph import`"),
        "{told}"
    );
    assert_eq!(place.run(&["import"]).code, 0);
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    assert!(!init(&place).contains("context-graph import"), "they are in");
}
