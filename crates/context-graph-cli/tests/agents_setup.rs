//! Installing into the files of other coding agents, and removing again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::Place;
use serde_json::{Value, json};

/// Every agent, with its file for the user and its file in a project.
const FILES: [(&str, &str, &str); 10] = [
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".copilot/hooks/context-graph.json", ".github/hooks/context-graph.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("droid", ".factory/settings.json", ".factory/settings.json"),
    (
        "goose",
        ".agents/plugins/context-graph/hooks/hooks.json",
        ".agents/plugins/context-graph/hooks/hooks.json",
    ),
    ("opencode", ".config/opencode/plugin/context-graph.js", ".opencode/plugin/context-graph.js"),
    ("pi", ".pi/agent/extensions/context-graph.ts", ".pi/extensions/context-graph.ts"),
    ("amp", ".config/amp/plugins/context-graph.ts", ".amp/plugins/context-graph.ts"),
];

fn write(path: &PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn doctor(place: &Place) -> Vec<Value> {
    let run = place.run(&["doctor", "--json"]);
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    said["checks"].as_array().unwrap().clone()
}

/// Doctor's results about an agent, of one level.
fn told(place: &Place, agent: &str, level: &str) -> String {
    let of = |it: &Value| it["check"] == agent && it["level"] == level;
    let said: Vec<_> = doctor(place).into_iter().filter(of).map(|it| it.to_string()).collect();
    said.join("\n")
}

#[test]
fn every_agent_is_installed_where_it_looks_and_no_byte_is_left() {
    for (agent, user, project) in FILES {
        for (scope, path) in [("--user", user), ("--shared", project)] {
            let place = Place::new();
            let root = if scope == "--user" { place.home() } else { place.project() };
            let file = root.join(path);
            let run = place.run(&["init", "--agent", agent, scope, "--yes"]);
            assert_eq!(run.code, 0, "{agent} {scope}: {run:?}");
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains("hooks"), "{agent}: {text}");
            let again = place.run(&["init", "--agent", agent, scope, "--yes"]);
            assert!(again.stdout.contains("nothing to do"), "{agent}: {again:?}");
            let run = place.run(&["uninstall", "--agent", agent, scope, "--yes", "--purge"]);
            assert_eq!(run.code, 0, "{agent} {scope}: {run:?}");
            assert!(!file.exists() && !file.parent().unwrap().exists(), "{agent} {scope}");
        }
    }
}

#[test]
fn what_others_wrote_comes_back_byte_for_byte() {
    let odd = "{\r\n\t\"theme\" : \"dark\",\r\n  \"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep\"}]}],\"stop\":[{\"command\":\"beep\"}]}, \"x\": 1.50 }";
    for (agent, user, _) in FILES.into_iter().filter(|(agent, ..)| !["opencode", "pi", "amp"].contains(agent))
    {
        let place = Place::new();
        let file = place.home().join(user);
        write(&file, odd);
        let run = place.run(&["init", "--agent", agent, "--yes"]);
        assert_eq!(run.code, 0, "{agent}: {run:?}");
        assert!(run.stdout.contains("leave alone"), "{agent}: {run:?}");
        assert_ne!(std::fs::read_to_string(&file).unwrap(), odd);
        assert_eq!(place.run(&["uninstall", "--agent", agent, "--yes"]).code, 0);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), odd, "{agent}");
    }
}

#[test]
fn a_dry_run_and_a_refusal_change_nothing() {
    let place = Place::new();
    let run = place.run(&["init", "--agent", "codex", "--dry-run"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("PreToolUse"), "{run:?}");
    assert!(!place.home().join(".codex").exists());
    let run = place.run(&["init", "--agent", "codex"]);
    assert_ne!(run.code, 0, "nobody said yes: {run:?}");
    assert!(!place.home().join(".codex").exists());
}

#[test]
fn a_broken_file_and_one_of_somebody_else_are_refused_with_their_place() {
    let place = Place::new();
    let gemini = place.home().join(".gemini/settings.json");
    write(&gemini, "{\n  \"hooks\": {,}\n}");
    let run = place.run(&["init", "--agent", "gemini", "--yes"]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("settings.json") && run.stderr.contains("line 2, column 13"), "{run:?}");
    assert_eq!(std::fs::read_to_string(&gemini).unwrap(), "{\n  \"hooks\": {,}\n}");
    let plugin = place.home().join(".config/opencode/plugin/context-graph.js");
    write(&plugin, "export const Mine = async () => ({})\n");
    let run = place.run(&["init", "--agent", "opencode", "--yes"]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("context-graph did not make this file"), "{run:?}");
    let run = place.run(&["uninstall", "--agent", "opencode", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(std::fs::read_to_string(&plugin).unwrap(), "export const Mine = async () => ({})\n");
}

#[test]
fn all_means_those_that_are_found_and_a_plain_init_names_them() {
    let place = Place::new();
    std::fs::create_dir_all(place.home().join(".codex")).unwrap();
    std::fs::create_dir_all(place.home().join(".qwen")).unwrap();
    let run = place.run(&["init", "--yes"]);
    assert!(run.stderr.contains("also found here: Codex, Qwen Code"), "{run:?}");
    assert!(run.stderr.contains("context-graph init --agent codex,qwen"), "{run:?}");
    let run = place.run(&["init", "--agent", "all", "--user", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    for (agent, user, _) in FILES {
        let is_found = ["codex", "qwen"].contains(&agent);
        assert_eq!(place.home().join(user).exists(), is_found, "{agent}");
    }
    assert!(place.home().join(".claude/settings.json").exists());
    let run = place.run(&["uninstall", "--user", "--yes"]);
    assert!(run.stderr.contains("Codex, Qwen Code still run hooks"), "{run:?}");
    let run = place.run(&["uninstall", "--agent", "all", "--user", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!place.home().join(".codex/hooks.json").exists());
}

#[test]
fn copilot_gets_no_second_registration_where_it_runs_that_of_claude_code() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes", "--shared"]).code, 0);
    let run = place.run(&["init", "--agent", "copilot", "--shared", "--yes"]);
    assert!(run.stdout.contains("so nothing is added"), "{run:?}");
    assert!(!place.project().join(".github").exists());
}

#[test]
fn one_user_in_one_project_is_what_no_other_agent_knows() {
    let place = Place::new();
    let run = place.run(&["init", "--agent", "gemini", "--local", "--yes"]);
    assert_ne!(run.code, 0);
    assert!(run.stderr.contains("--user") && run.stderr.contains("--shared"), "{run:?}");
}

#[test]
fn a_configuration_is_printed_as_init_writes_it() {
    for (agent, _, project) in FILES {
        let place = Place::new();
        let printed = place.run(&["hooks", "generate-config", "--agent", agent]);
        assert_eq!(printed.code, 0, "{printed:?}");
        assert!(printed.stderr.contains(project), "{printed:?}");
        assert_eq!(place.run(&["init", "--agent", agent, "--shared", "--yes"]).code, 0);
        let written = std::fs::read_to_string(place.project().join(project)).unwrap();
        assert_eq!(printed.stdout.trim_end(), written.trim_end(), "{agent}");
    }
}

#[test]
fn the_doctor_finds_what_an_agent_skips_silently() {
    let place = Place::new();
    for agent in ["codex", "gemini", "cursor", "goose"] {
        assert_eq!(place.run(&["init", "--agent", agent, "--yes"]).code, 0);
        if agent != "codex" {
            assert_eq!(told(&place, agent, "broken"), "", "{agent}");
            assert!(told(&place, agent, "ok").contains("registered in"), "{agent}");
        }
    }
    assert!(told(&place, "codex", "broken").contains("not trusted"), "nobody has trusted them yet");
    let edit = |path: &str, from: &str, to: &str| {
        let path = place.home().join(path);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
    };
    edit(".gemini/settings.json", "5000", "5");
    assert!(told(&place, "gemini", "broken").contains("milliseconds"));
    edit(".cursor/hooks.json", "\"failClosed\": true", "\"failClosed\": false");
    assert!(told(&place, "cursor", "broken").contains("does not block the call"));
    edit(".codex/hooks.json", "\"hooks\": {", "\"note\": 1, \"hooks\": {");
    assert!(told(&place, "codex", "broken").contains("`note`"));
    let goose = ".agents/plugins/context-graph/hooks/hooks.json";
    edit(goose, "\"PreToolUse\": [\n      {", "\"PreToolUse\": [\n      {\"matcher\": \"*\",");
    assert!(told(&place, "goose", "broken").contains("matcher"));
    let nested = std::fs::read_to_string(place.home().join(".codex/hooks.json")).unwrap();
    write(&place.home().join(".factory/hooks.json"), &nested);
    assert!(told(&place, "droid", "broken").contains("at the top"));
}

#[test]
fn the_doctor_believes_codex_trust_only_for_the_very_hooks_that_are_there() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--agent", "codex", "--yes"]).code, 0);
    let file = place.home().join(".codex/hooks.json");
    let trust = |text: &str| {
        let hooks = context_graph_settings::codex_trust(&file.to_string_lossy(), text);
        let lines = hooks
            .iter()
            .map(|(key, hash)| format!("[hooks.state.{}]\ntrusted_hash = {}\n", json!(key), json!(hash)));
        write(&place.home().join(".codex/config.toml"), &lines.collect::<String>());
    };
    let text = std::fs::read_to_string(&file).unwrap();
    trust(&text);
    assert_eq!(told(&place, "codex", "broken"), "");
    trust(&text.replace("\"timeout\": 5", "\"timeout\": 4"));
    assert!(told(&place, "codex", "broken").contains("not trusted"));
}

#[test]
fn the_doctor_mends_what_init_would_write_anew() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--agent", "gemini", "--yes"]).code, 0);
    let file = place.home().join(".gemini/settings.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, whole.replace("5000", "5")).unwrap();
    assert!(told(&place, "gemini", "broken").contains("milliseconds"));
    let mended = place.run(&["doctor", "--fix"]);
    assert!(mended.stdout.contains("the hooks in"), "{mended:?}");
    assert_eq!(told(&place, "gemini", "broken"), "");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
}

#[test]
fn the_doctor_says_that_an_agent_runs_two_registrations() {
    for agent in ["copilot", "cursor"] {
        let place = Place::new();
        assert_eq!(place.run(&["init", "--agent", agent, "--user", "--yes"]).code, 0);
        assert_eq!(told(&place, agent, "warning"), "");
        assert_eq!(place.run(&["init", "--yes"]).code, 0);
        assert!(told(&place, agent, "warning").contains("each event arrives twice"), "{agent}");
    }
}

#[test]
fn the_doctor_says_that_an_agent_worked_here_and_no_hook_ran() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--agent", "codex", "--yes"]).code, 0);
    let began = |id: &str, at: &str| {
        let meta =
            json!({"timestamp": at, "type": "session_meta", "payload": {"id": id, "cwd": place.project()}});
        write(&place.home().join(format!(".codex/sessions/rollout-{id}.jsonl")), &meta.to_string());
    };
    began("before", "2020-01-01T00:00:00Z");
    assert!(!told(&place, "codex", "warning").contains("none of its events reached us"));
    began("after", "2100-01-01T00:00:00Z");
    assert!(told(&place, "codex", "warning").contains("none of its events reached us"));
    let start = json!({"hook_event_name": "SessionStart", "session_id": "after", "turn_id": "t", "source": "startup",
        "transcript_path": "", "cwd": place.project()});
    assert_eq!(place.send(&["hooks", "event"], start.to_string()).code, 0);
    assert!(!told(&place, "codex", "warning").contains("none of its events reached us"));
}
