//! Reads sessions and cases, and plays each case through the engine once.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use context_graph_core::continuity::Continuity;
use context_graph_core::gwt::session_identity::KURAMOTO_N;
use context_graph_events::Event;
use serde_json::{Map, Value, json};

/// Calls in a case's tail.
pub(crate) const TAIL: usize = 20;

/// What is appended to a session's beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its own continuation.
    On,
    /// Calls of another project.
    Cross,
    /// Calls of another task in the same project.
    Same,
    /// One failing call, repeated.
    Loop,
}

/// A case after the engine has seen it.
pub(crate) struct Played {
    /// What the tail is.
    pub kind: Kind,
    /// The project of the beginning.
    pub project: String,
    /// The project of the tail.
    pub tail_project: String,
    /// The purpose vector at each tool result.
    pub vectors: Vec<[f32; KURAMOTO_N]>,
    /// Whether a loop was reported there.
    pub looping: Vec<bool>,
}

impl Played {
    /// Whether any of the case comes from this project.
    pub(crate) fn touches(&self, project: &str) -> bool {
        self.project == project || self.tail_project == project
    }
}

/// The events of each session of a folder.
pub(crate) fn sessions(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    lines(folder, "sessions.jsonl")
        .into_iter()
        .map(|mut session| {
            let id = text(&session, "id").to_owned();
            let events = session["events"].take();
            (id, events.as_array().cloned().unwrap_or_default())
        })
        .collect()
}

/// Plays all cases of a folder.
pub(crate) fn load(folder: &Path, sessions: &BTreeMap<String, Vec<Value>>) -> Vec<Played> {
    lines(folder, "cases.jsonl").iter().map(|case| play(case, sessions)).collect()
}

fn lines(folder: &Path, name: &str) -> Vec<Value> {
    let plain = folder.join(name);
    let bytes = if plain.exists() {
        std::fs::read(&plain).expect("cannot read")
    } else {
        let packed = folder.join(format!("{name}.gz"));
        let output = Command::new("gzip").arg("-dc").arg(&packed).output().expect("cannot run gzip");
        assert!(output.status.success(), "cannot read {}", packed.display());
        output.stdout
    };
    let text = String::from_utf8(bytes).expect("not UTF-8");
    let full = text.lines().filter(|line| !line.trim().is_empty());
    full.map(|line| serde_json::from_str(line).expect("not JSON")).collect()
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn number(value: &Value, key: &str) -> usize {
    usize::try_from(value[key].as_u64().unwrap_or(0)).expect("a small number")
}

fn play(case: &Value, sessions: &BTreeMap<String, Vec<Value>>) -> Played {
    let (a, cut) = (text(case, "A"), number(case, "cp"));
    let kind = match text(case, "kind") {
        "on" => Kind::On,
        "cross" => Kind::Cross,
        "same" => Kind::Same,
        "loop" => Kind::Loop,
        other => panic!("unknown kind of case: {other}"),
    };
    let b = if kind == Kind::On { a } else { text(case, "B") };
    let j = if kind == Kind::On { cut } else { number(case, "j") };
    let tail: Vec<&Value> = if case["repeat"].as_bool() == Some(true) {
        vec![&sessions[b][j]; TAIL]
    } else {
        sessions[b].iter().skip(j).take(TAIL).collect()
    };

    let mut engine = Continuity::default();
    let (mut vectors, mut looping) = (Vec::new(), Vec::new());
    let mut clock = 1_760_000_000_000;
    for neutral in sessions[a].iter().take(cut).chain(tail) {
        clock += 5_000;
        for event in payloads(text(case, "case"), neutral) {
            let assessment = engine.observe(&event, clock);
            if assessment.scored {
                vectors.push(assessment.purpose_vector);
                looping.push(assessment.looping.is_some());
            }
        }
    }
    let project = |id: &str| id.split('#').next().unwrap_or_default().to_owned();
    Played { kind, project: project(a), tail_project: project(b), vectors, looping }
}

/// Converts a neutral event to the client's payloads.
pub(crate) fn payloads(session: &str, event: &Value) -> Vec<Event> {
    let base = json!({
        "session_id": session,
        "transcript_path": format!("/home/user/.claude/projects/p/{session}.jsonl"),
        "cwd": "/home/user/project",
    });
    let payload = |name: &str, more: Value| -> Event {
        let mut map: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
        map.insert("hook_event_name".to_owned(), json!(name));
        map.extend(more.as_object().cloned().unwrap_or_default());
        Event::from_object(map).expect("not a payload")
    };
    match text(event, "kind") {
        "prompt" => vec![payload("UserPromptSubmit", json!({"prompt": event["text"]}))],
        "compact" => vec![payload("PreCompact", json!({"trigger": "auto", "custom_instructions": null}))],
        "tool" => {
            let tool = event["tool"].as_str().filter(|tool| !tool.is_empty()).unwrap_or("unknown");
            let given = &event["tool_input"];
            let input = if given.is_object() { given.clone() } else { json!({"value": given}) };
            let call = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "toolu"});
            let out = text(event, "out");
            let (name, result) = if event["err"].as_bool() == Some(true) {
                ("PostToolUseFailure", json!({"error": out, "duration_ms": 10}))
            } else if tool == "Bash" {
                ("PostToolUse", json!({"tool_response": {"stdout": out, "stderr": "", "interrupted": false}}))
            } else {
                ("PostToolUse", json!({"tool_response": {"content": out}}))
            };
            let mut done = call.clone();
            if let (Some(done), Some(result)) = (done.as_object_mut(), result.as_object()) {
                done.extend(result.clone());
            }
            vec![payload("PreToolUse", call), payload(name, done)]
        }
        _ => Vec::new(),
    }
}
