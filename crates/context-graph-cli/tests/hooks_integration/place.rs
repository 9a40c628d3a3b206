//! Where sessions are kept, and which sessions do not see each other.

use serde_json::{Value, json};

use crate::common::Place;
use crate::{call, event, prompt, start, status};

#[test]
fn start_and_end_agree_on_where_the_session_is() {
    let place = Place::new();
    let elsewhere = place.project().join("elsewhere");
    let path = elsewhere.to_str().unwrap();
    let start_event = event("s", "SessionStart", json!({"source": "startup"}));
    place.send(&["hooks", "session-start", "--db-path", path], &start_event).succeeded();
    place
        .send(
            &["hooks", "session-end", "--db-path", path],
            event("s", "SessionEnd", json!({"reason": "other"})),
        )
        .succeeded();
    let run = place.run(&["session", "status", "s", "--json", "--db-path", path]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(elsewhere.join("context-graph.db").exists());
    assert!(!place.project().join(".context-graph/data").exists());
    let mut by_environment = place.command(&["session", "status", "s"]);
    by_environment.env("CONTEXT_GRAPH_DB_PATH", path);
    assert!(by_environment.output().unwrap().status.success());
}

#[test]
fn a_database_in_the_state_folder_itself_and_its_upkeep_do_not_wait_for_each_other() {
    let place = Place::new();
    let path = place.project().join(".context-graph");
    let path = path.to_str().unwrap();
    let start = json!({"source": "startup", "model": "m"});
    place.send(&["hooks", "session-start", "--db-path", path], event("s", "SessionStart", start)).succeeded();
    let end = event("s", "SessionEnd", json!({"reason": "other"}));
    place.send(&["hooks", "session-end", "--db-path", path], end).succeeded();
    let mut upkeep = place.command(&["maintain"]);
    upkeep.env("CONTEXT_GRAPH_DB_PATH", path);
    assert!(upkeep.output().unwrap().status.success());
}

#[test]
fn a_tool_call_needs_no_database() {
    let place = Place::new();
    start(&place, "s", "startup");
    let data = place.project().join(".context-graph/data");
    std::fs::remove_dir(&data).expect("a start alone needs none");
    std::fs::write(&data, "this is no database").unwrap();
    let own = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": "t"});
    for args in
        [&["hooks", "event"][..], &["hooks", "pre-tool"], &["hooks", "pre-tool", "--stdin", "--fast-path"]]
    {
        let answer = place.send(args, event("s", "PreToolUse", own.clone())).succeeded();
        assert!(answer["ic_classification"]["value"].is_number(), "{answer}");
    }
}

#[test]
fn sessions_of_different_projects_are_apart() {
    let (here, there) = (Place::new(), Place::new());
    start(&here, "a", "startup");
    start(&there, "b", "startup");
    assert_eq!(status(&there, "b").get("previous_session_id"), None);
    assert_eq!(here.run(&["session", "status", "b"]).code, 1);
}

#[test]
fn odd_session_ids_are_kept_apart_and_absurd_ones_refused() {
    let place = Place::new();
    for id in ["a/b", "../../etc/passwd", "a:b", "a\u{0}b", "ünï", "-rf", " ", "session:x"] {
        start(&place, id, "startup");
        prompt(&place, id, "hello");
        let all = place.run(&["session", "list", "--json"]);
        let all: Value = serde_json::from_str(&all.stdout).unwrap();
        let mine = all.as_array().unwrap().iter().find(|s| s["session_id"] == id).unwrap();
        assert_eq!(mine["counters"]["prompts"], 1, "{id:?}");
    }
    let long = "x".repeat(1000);
    let run = place.send(&["hooks", "event"], event(&long, "SessionStart", json!({"source": "startup"})));
    assert!(run.failed("validation").contains("session_id"), "{run:?}");
}

#[test]
fn every_event_can_be_synced() {
    let place = Place::new();
    start(&place, "s", "startup");
    place.trusted_file("config.toml", "[storage]\nsync = \"every_event\"\n");
    call(&place, "s", "t", "ls");
    assert_eq!(status(&place, "s")["counters"]["calls_succeeded"], 1);
}
