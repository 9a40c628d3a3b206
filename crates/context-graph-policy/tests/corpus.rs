//! The two corpora: dangerous calls are denied or asked about by the rule named with them, and no rule finds anything in
//! ordinary calls.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read fails the test")]

use context_graph_events::Event;
use context_graph_policy::effects::FileKind;
use context_graph_policy::{Context, Decision, Guards, ListedFileSystem, PolicyConfig};
use serde_json::{Value, json};

/// The home folder in the corpora; the project is below it.
const HOME: &str = "/home/dev";

fn decide(call: &str) -> Decision {
    decide_in(HOME, call)
}

/// Decides about a call, with the home folder in another place.
fn decide_in(home: &str, call: &str) -> Decision {
    let call = call.replace('␤', "\n").replace(HOME, home);
    let project = &format!("{home}/proj/app");
    let (tool, input) = match call.strip_prefix('@').and_then(|rest| rest.split_once(' ')) {
        Some((tool, input)) if input.starts_with(['{', '[', '"']) => {
            (tool.to_owned(), serde_json::from_str(input).unwrap())
        }
        _ => ("Bash".to_owned(), json!({ "command": call })),
    };
    let fs = ListedFileSystem::default()
        .with("/home", FileKind::Folder)
        .with(home, FileKind::Folder)
        .with(&format!("{home}/proj"), FileKind::Folder)
        .with(project, FileKind::Folder);
    let event = event(project, &tool, &input);
    Guards::new(PolicyConfig::default()).decide(&event, &Context { home, project, cwd: project, fs: &fs })
}

fn event(project: &str, tool: &str, input: &Value) -> Event {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": project,
        "tool_name": tool, "tool_input": input, "tool_use_id": "1",
    });
    Event::from_object(payload.as_object().cloned().unwrap()).unwrap()
}

fn cases(corpus: &str) -> Vec<&str> {
    corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

#[test]
fn everything_dangerous_is_stopped_by_its_rule() {
    let cases = cases(include_str!("corpus/dangerous.txt"));
    assert!(cases.len() >= 220, "only {} cases", cases.len());
    let mut missed = Vec::new();
    for case in cases {
        let (rule, call) = case.split_once('\t').unwrap();
        let decision = decide(call);
        let spoke = decision.findings().any(|finding| finding.rule == rule);
        if !decision.verdict().refuses_or_asks() || !spoke {
            missed.push(format!("{rule}: {call} -> {:?} {}", decision.verdict(), decision.reason()));
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn nothing_ordinary_is_minded() {
    let cases = cases(include_str!("corpus/ordinary.txt"));
    assert!(cases.len() >= 220, "only {} cases", cases.len());
    let mut alarms = Vec::new();
    for call in cases {
        let decision = decide(call);
        if decision.findings().next().is_some() {
            alarms.push(format!("{call} -> {:?} {}", decision.verdict(), decision.reason()));
        }
    }
    assert!(alarms.is_empty(), "{} alarms:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn the_name_of_a_folder_above_the_project_makes_no_key_harmless() {
    for home in ["/home/public", "/home/localhost", "/home/tests/example", "/srv/vendor"] {
        for call in ["cat certs/server.key", "cat key.pem"] {
            assert!(decide_in(home, call).verdict().refuses_or_asks(), "{home}: {call}");
        }
        assert!(!decide_in(home, "cat tests/fixtures/server.key").verdict().refuses_or_asks(), "{home}");
    }
}

#[test]
fn a_home_in_a_temporary_folder_is_no_less_one() {
    let mut missed = Vec::new();
    for case in cases(include_str!("corpus/dangerous.txt")) {
        let (_, call) = case.split_once('\t').unwrap();
        // Some calls name the folder of all homes, or go up to it with `..`.
        let is_elsewhere = call.replace(HOME, "").contains("home/") || call.contains("..");
        let decision = decide_in("/tmp/x1/dev", call);
        if !decision.verdict().refuses_or_asks() && !is_elsewhere {
            missed.push(call);
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
    let alarms: Vec<_> = cases(include_str!("corpus/ordinary.txt"))
        .into_iter()
        .filter(|call| !call.contains("find /tmp "))
        .filter(|call| decide_in("/tmp/x1/dev", call).findings().next().is_some())
        .collect();
    assert!(alarms.is_empty(), "{} alarms:\n{}", alarms.len(), alarms.join("\n"));
}
