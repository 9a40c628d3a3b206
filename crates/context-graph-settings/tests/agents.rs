//! Every agent's file: installed, installed again, and removed again to the last byte.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::agents::Agent;
use context_graph_settings::{AgentClient, Change, Missing, OwnCommand, SettingsError, codex_trust};
use serde_json::{Value, json};

const COMMAND: OwnCommand<'static> =
    OwnCommand { program: "/opt/my tools/context-graph", missing: None, gates: 0, signals: 0 };

fn installed(client: &AgentClient, text: Option<&str>, command: &OwnCommand<'_>) -> String {
    client.install(text, command).unwrap().text.unwrap()
}

fn json_of(client: &AgentClient, command: &OwnCommand<'_>) -> Value {
    serde_json::from_str(&installed(client, None, command)).unwrap()
}

fn client(agent: Agent) -> &'static AgentClient {
    AgentClient::of(agent).unwrap()
}

fn is_bridge(client: &AgentClient) -> bool {
    client.call_event().is_none()
}

/// The hook that guards tool calls, as the client reads it.
fn guard(client: &AgentClient, file: &Value) -> Value {
    let first = &file["hooks"][client.call_event().unwrap()][0];
    if first["hooks"].is_array() { first["hooks"][0].clone() } else { first.clone() }
}

#[test]
fn in_and_out_again_leaves_every_byte() {
    let foreign = [
        None,
        Some(""),
        Some("{}\n"),
        Some("\u{feff}{\r\n\t\"theme\": \"dark\",\r\n\t\"hooks\": {}\r\n}\r\n"),
        Some(
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep\"}]}],\"stop\":[{\"command\":\"beep\"}]}}",
        ),
        Some(
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"jq .\"}]}\n    ]\n  }\n}",
        ),
    ];
    for client in AgentClient::all() {
        for before in foreign {
            if is_bridge(client) && before.is_some() {
                let refused = client.install(before, &COMMAND).unwrap_err();
                assert!(matches!(refused, SettingsError::Foreign { .. }), "{}: {refused}", client.agent);
                continue;
            }
            let edited = client.install(before, &COMMAND).unwrap();
            let after = edited.text.as_deref().unwrap();
            assert!(client.has_ours(after), "{}: {after}", client.agent);
            let again = client.install(Some(after), &COMMAND).unwrap();
            assert_eq!((again.text.as_deref(), again.changes.len()), (Some(after), 0), "{}", client.agent);
            let out = client.uninstall(after, edited.undo.as_ref()).unwrap();
            assert_eq!(out.text.as_deref(), before, "{}", client.agent);
        }
    }
}

#[test]
fn without_the_record_only_ours_goes() {
    for client in AgentClient::all().filter(|client| !is_bridge(client)) {
        let foreign = "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"x\": []\n  }\n}\n";
        let after = installed(client, Some(foreign), &COMMAND);
        let out: Value =
            serde_json::from_str(&client.uninstall(&after, None).unwrap().text.unwrap()).unwrap();
        assert_eq!((&out["theme"], &out["hooks"]), (&json!("dark"), &json!({"x": []})), "{}", client.agent);
    }
}

#[test]
fn a_file_that_was_made_for_us_goes_even_if_it_was_laid_out_anew() {
    for client in AgentClient::all().filter(|client| !is_bridge(client)) {
        let edited = client.install(None, &COMMAND).unwrap();
        let file: Value = serde_json::from_str(edited.text.as_deref().unwrap()).unwrap();
        let out = client.uninstall(&file.to_string(), edited.undo.as_ref()).unwrap();
        assert_eq!(out.text, None, "{}", client.agent);
    }
}

#[test]
fn another_place_of_the_program_is_brought_up_to_date_and_foreign_hooks_stay() {
    for client in AgentClient::all() {
        let old = installed(client, None, &OwnCommand { program: "/old/context-graph", ..COMMAND });
        let edited = client.install(Some(&old), &COMMAND).unwrap();
        assert_eq!(
            edited.text.as_deref(),
            Some(installed(client, None, &COMMAND).as_str()),
            "{}",
            client.agent
        );
        let is_update = |change: &Change| matches!(change, Change::HookUpdated { .. } | Change::FileUpdated);
        assert!(edited.changes.iter().all(is_update) && !edited.changes.is_empty(), "{}", client.agent);
    }
}

#[test]
fn a_program_of_another_name_is_known_by_what_we_write() {
    let command = OwnCommand { program: "/opt/cg-2", ..COMMAND };
    for client in AgentClient::all() {
        let after = installed(client, None, &command);
        assert_eq!(client.called(&after), Some(("/opt/cg-2".to_owned(), None)), "{}", client.agent);
    }
}

#[test]
fn times_are_in_the_unit_of_the_client() {
    for (agent, key, second) in [
        (Agent::Codex, "timeout", 1),
        (Agent::Gemini, "timeout", 1000),
        (Agent::Qwen, "timeout", 1000),
        (Agent::Copilot, "timeoutSec", 1),
        (Agent::Cursor, "timeout", 1),
        (Agent::Droid, "timeout", 1),
        (Agent::Goose, "timeout", 1),
    ] {
        let file = json_of(client(agent), &OwnCommand { signals: 2, ..COMMAND });
        assert_eq!(guard(client(agent), &file)[key], json!(7 * second), "{agent}");
    }
    let file = json_of(client(Agent::Codex), &OwnCommand { gates: 60, ..COMMAND });
    assert_eq!(file["hooks"]["Stop"][0]["hooks"][0]["timeout"], json!(66), "the gates have their time");
    assert_eq!(file["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], json!(3), "Codex waits no longer");
}

#[test]
fn a_guard_that_fails_blocks_where_the_client_can_be_told_so() {
    for (agent, key, value) in
        [(Agent::Cursor, "failClosed", json!(true)), (Agent::Goose, "on_failure", json!("block"))]
    {
        assert!(client(agent).can_fail_closed());
        assert_eq!(guard(client(agent), &json_of(client(agent), &COMMAND))[key], value);
        let shared = |missing| OwnCommand { missing: Some(missing), ..COMMAND };
        let goes_on = json_of(client(agent), &shared(Missing::GoOn));
        assert_eq!(guard(client(agent), &goes_on)[key], Value::Null, "work goes on where it is missing");
        let blocks = json_of(client(agent), &shared(Missing::Block));
        assert_eq!(guard(client(agent), &blocks)[key], value);
    }
}

#[test]
fn shared_files_say_what_happens_where_the_program_is_missing() {
    for client in AgentClient::all() {
        for missing in [Missing::GoOn, Missing::Block] {
            let after = installed(
                client,
                None,
                &OwnCommand { program: "context-graph", missing: Some(missing), ..COMMAND },
            );
            assert!(!after.contains("/opt"), "{}: a path of one machine", client.agent);
            let (program, said) = client.called(&after).unwrap();
            assert_eq!(program, "context-graph");
            // A bridge refuses unless it is told to continue.
            let expected = if is_bridge(client) && missing == Missing::Block { None } else { Some(missing) };
            assert_eq!(said, expected, "{}", client.agent);
        }
    }
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    for client in AgentClient::all().filter(|client| !is_bridge(client)) {
        let error = client.install(Some("{\n  \"hooks\": {,}\n}"), &COMMAND).unwrap_err();
        assert!(error.to_string().starts_with("line 2, column 13"), "{}: {error}", client.agent);
        let error = client.install(Some("{\"hooks\": []}"), &COMMAND).unwrap_err();
        assert!(error.to_string().contains("`hooks` should be an object"), "{}: {error}", client.agent);
    }
}

#[test]
fn no_event_that_carries_a_conversation_is_asked_for() {
    for client in AgentClient::all() {
        for event in client.events() {
            assert!(!event.contains("Model") && event != "PreCompress", "{}: {event}", client.agent);
        }
    }
}

#[test]
fn no_matcher_is_written() {
    for client in AgentClient::all() {
        assert!(!installed(client, None, &COMMAND).contains("matcher"), "{}", client.agent);
    }
}

#[test]
fn a_bridge_names_the_program_as_a_string_of_its_language() {
    for client in AgentClient::all().filter(|client| is_bridge(client)) {
        let text = installed(client, None, &OwnCommand { program: "/a \"b\"\n/context-graph", ..COMMAND });
        assert!(text.contains(r#"const PROGRAM = "/a \"b\"\n/context-graph";"#), "{text}");
        assert!(text.contains(&format!("agent: \"{}\"", client.agent)) && !text.contains("AGENT"), "{text}");
    }
}

#[test]
fn codex_trusts_a_hook_by_its_place_and_its_definition() {
    let text = r#"{"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command", "command": "beep"}]},
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "context-graph hooks event", "timeout": 5}]}]}}"#;
    let trust = codex_trust("/home/dev/.codex/hooks.json", text);
    assert_eq!(trust.len(), 1);
    assert_eq!(trust[0].0, "/home/dev/.codex/hooks.json:pre_tool_use:1:0");
    let other = codex_trust("/home/dev/.codex/hooks.json", &text.replace('5', "6"));
    assert_ne!(trust[0].1, other[0].1);
    assert!(trust[0].1.starts_with("sha256:") && trust[0].1.len() == 71);
}
