//! What is kept: the limits of a project apply to its own sessions, wherever the project is now.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use context_graph_core::session::Session;
use context_graph_events::Event;
use context_graph_storage::sessions::{Arrival, Durability, IMPORTED, Limits, Sessions, Trail};
use context_graph_storage::store::DATABASE;
use context_graph_storage::{StateFolder, UserFolder};
use rusqlite::Connection;
use serde_json::{Value, json};

/// When sessions are pruned.
const NOW_MS: i64 = 1_700_000_000_000;

fn sessions(place: &Path, project: &str, db_path: Option<&Path>) -> Sessions {
    let root = place.join(project);
    fs::create_dir_all(&root).unwrap();
    let user = UserFolder::new(place.join("private"));
    Sessions::new(StateFolder::open_or_create(&root, db_path, &user).unwrap())
}

/// A session of one prompt.
fn work(sessions: &Sessions, id: &str, at_ms: i64, prompt: &str) {
    for (name, more, durability) in [
        ("UserPromptSubmit", json!({ "prompt": prompt }), Durability::Process),
        ("SessionEnd", json!({"reason": "other"}), Durability::End),
    ] {
        step(sessions, id, at_ms, name, &more, durability);
    }
}

fn step(sessions: &Sessions, id: &str, at_ms: i64, name: &str, more: &Value, durability: Durability) {
    let mut payload =
        json!({"hook_event_name": name, "session_id": id, "transcript_path": "/t", "cwd": "/w"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let arrival = Arrival {
        event: Event::from_text(&payload.to_string()).unwrap(),
        at_ms,
        previous_session_id: None,
        took_us: 1,
        ruling: None,
        crisis_threshold: 0.5,
        told_below: 0.5,
        title: None,
    };
    sessions.step(id, arrival, durability).unwrap();
}

/// Text that hardly compresses.
fn noise(seed: u64) -> String {
    let number = |at: u64| (seed * 1000 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    (0..200).map(|at| (number(at) ^ number(at).rotate_left(31)).to_string()).collect()
}

fn pruned(sessions: &Sessions, limits: Limits) -> Vec<String> {
    let store = sessions.store(NOW_MS).unwrap().unwrap();
    let pruned = sessions.prune(&store, limits, NOW_MS, &mut |_, _| ()).unwrap();
    pruned.into_iter().map(|session| session.session_id).collect()
}

#[test]
fn a_large_project_pushes_none_of_a_small_one_out() {
    let place = tempfile::tempdir().unwrap();
    let shared = place.path().join("shared");
    let (small, large) =
        (sessions(place.path(), "small", Some(&shared)), sessions(place.path(), "large", Some(&shared)));
    work(&small, "first", NOW_MS - 1000, "draw the map");
    for number in 0..20 {
        work(
            &large,
            &format!("large-{number:02}"),
            NOW_MS - 900 + i64::try_from(number).unwrap(),
            &noise(number),
        );
    }
    let limits = Limits { max_bytes: Some(10_000), ..Limits::default() };
    assert_eq!(pruned(&small, limits), [] as [&str; 0]);
    let gone = pruned(&large, limits);
    assert!(gone.starts_with(&["large-00".to_owned(), "large-01".to_owned()]), "the oldest first: {gone:?}");
    assert!(gone.len() < 20, "no more than needed: {gone:?}");
}

#[test]
fn a_session_that_goes_on_after_its_project_was_moved_is_the_previous_one_of_the_next() {
    let place = tempfile::tempdir().unwrap();
    work(&sessions(place.path(), "before", None), "old", NOW_MS - 5000, "draw the map");
    fs::rename(place.path().join("before"), place.path().join("after")).unwrap();
    let moved = sessions(place.path(), "after", None);
    work(&moved, "old", NOW_MS - 4000, "colour the map");
    let store = moved.store(NOW_MS).unwrap().unwrap();
    let latest = store.latest_of_project(&moved.project(), None).unwrap().unwrap();
    assert_eq!(latest.session_id, "old");
}

#[test]
fn sessions_from_before_a_project_was_moved_are_pruned_too() {
    let place = tempfile::tempdir().unwrap();
    work(&sessions(place.path(), "before", None), "old", NOW_MS - 5000, "draw the map");
    fs::rename(place.path().join("before"), place.path().join("after")).unwrap();
    let moved = sessions(place.path(), "after", None);
    work(&moved, "new", NOW_MS, "count the trees");
    let limits = Limits { not_before_ms: Some(NOW_MS - 1000), ..Limits::default() };
    assert_eq!(pruned(&moved, limits), ["old"]);
}

#[test]
fn a_running_session_of_a_moved_project_counts_for_the_folder_where_the_project_is_now() {
    let place = tempfile::tempdir().unwrap();
    let before = sessions(place.path(), "before", None);
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "src/map.rs"}, "tool_use_id": "t1"});
    step(&before, "open", NOW_MS - 5000, "PreToolUse", &read, Durability::Process);
    fs::rename(place.path().join("before"), place.path().join("after")).unwrap();
    let moved = sessions(place.path(), "after", None);
    let files = Trail::open(&moved, None).unwrap().files_touched(0, 10).unwrap();
    let projects: Vec<&str> = files.iter().map(|file| file.project.as_str()).collect();
    assert_eq!(projects, [moved.project()]);
}

#[test]
fn a_rebuilt_session_of_a_moved_project_counts_for_the_folder_where_the_project_is_now() {
    let place = tempfile::tempdir().unwrap();
    work(&sessions(place.path(), "before", None), "old", NOW_MS - 5000, "draw the map");
    fs::rename(place.path().join("before"), place.path().join("after")).unwrap();
    let moved = sessions(place.path(), "after", None);
    let database = moved.folder().database().join(DATABASE);
    Connection::open(database).unwrap().execute("UPDATE sessions SET project = '/else'", []).unwrap();
    assert_eq!(moved.folder().rebuild_store(NOW_MS, &mut |_| ()).unwrap().sessions, 1);
    let store = moved.store(NOW_MS).unwrap().unwrap();
    assert_eq!(store.session("old").unwrap().unwrap().project, Some(moved.project()));
}

#[test]
fn a_session_imported_from_another_project_stays_one_of_that_project() {
    let place = tempfile::tempdir().unwrap();
    let here = sessions(place.path(), "here", None);
    let mut session = Session::new("past", "/elsewhere", NOW_MS);
    assert_eq!(here.project_of(&session), here.project());
    session.state.end_reason = Some(IMPORTED.to_owned());
    assert_eq!(here.project_of(&session), "/elsewhere");
}
