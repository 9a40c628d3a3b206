//! Many processes at once, and processes that die.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::Place;
use serde_json::{Value, json};

fn post(session: &str, id: &str) -> String {
    json!({
        "hook_event_name": "PostToolUse", "session_id": session, "transcript_path": "/t", "cwd": "/w",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id,
        "tool_response": {"stdout": "x", "stderr": "", "interrupted": false},
    })
    .to_string()
}

fn pre(session: &str, id: &str) -> String {
    post(session, id).replace("PostToolUse", "PreToolUse")
}

fn stop(session: &str) -> String {
    json!({"hook_event_name": "Stop", "session_id": session, "transcript_path": "/t", "cwd": "/w",
        "stop_hook_active": false})
    .to_string()
}

fn start(session: &str) -> String {
    json!({"hook_event_name": "SessionStart", "session_id": session, "transcript_path": "/t", "cwd": "/w",
        "source": "startup"})
    .to_string()
}

fn spawn(place: &Place, stdin: &str) -> Child {
    let mut child = place.command(&["hooks", "event"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child
}

fn ids_in_the_log(place: &Place, session: &str) -> BTreeMap<(String, String), usize> {
    let run = place.run(&["session", "show", session, "--json", "--events", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    let story: Value = serde_json::from_str(&run.stdout).unwrap();
    let events = story["events"].as_array().unwrap();
    assert_eq!(story["counters"]["events"], events.len(), "the counters add up");
    let mut seen = BTreeMap::new();
    for event in events.iter().filter(|event| event.get("tool_use_id").is_some()) {
        let key =
            (event["event"].as_str().unwrap().to_owned(), event["tool_use_id"].as_str().unwrap().to_owned());
        *seen.entry(key).or_default() += 1;
    }
    seen
}

#[test]
fn forty_at_once_on_one_session_are_each_in_the_log_once() {
    let place = Place::new();
    let mut acknowledged = Vec::new();
    for round in 0..2 {
        let children: Vec<_> = (0..40)
            .map(|i| {
                let id = format!("t{round}-{i}");
                let (event, text) =
                    if i % 2 == 0 { ("PreToolUse", pre("s", &id)) } else { ("PostToolUse", post("s", &id)) };
                ((event.to_owned(), id), spawn(&place, &text))
            })
            .collect();
        for (key, child) in children {
            let output = child.wait_with_output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            // A busy machine may be late; only acknowledged events count.
            assert!(answer["success"] == true || answer["error_code"] == "timeout", "{output:?}");
            if answer["success"] == true {
                acknowledged.push(key);
            }
        }
    }
    assert!(acknowledged.len() >= 60, "only {} of 80 in time", acknowledged.len());
    let seen = ids_in_the_log(&place, "s");
    assert!(seen.values().all(|times| *times == 1), "{seen:?}");
    assert!(acknowledged.iter().all(|key| seen.contains_key(key)), "acknowledged and not in the log");
}

#[test]
fn thirty_two_writers_over_several_sessions_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for writer in 0..32 {
            let place = &place;
            scope.spawn(move || {
                let session = format!("s{}", writer % 5);
                for i in 0..50 {
                    let text =
                        if i % 10 == 9 { stop(&session) } else { post(&session, &format!("w{writer}-{i}")) };
                    let run = place.send(&["hooks", "event"], text);
                    assert_eq!(run.code, 0, "{run:?}");
                    assert!(!run.stderr.to_lowercase().contains("busy"), "{run:?}");
                }
            });
        }
    });
    let all: Vec<_> = (0..5).flat_map(|s| ids_in_the_log(&place, &format!("s{s}"))).collect();
    assert_eq!(all.len(), 32 * 45);
    assert!(all.iter().all(|(_, times)| *times == 1));
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    let place = Place::new();
    place.send(&["hooks", "event"], post("s", "first")).succeeded();
    let started = std::time::Instant::now();
    place.send(&["hooks", "event"], post("s", "second")).succeeded();
    let usual_us = u64::try_from(started.elapsed().as_micros()).unwrap();
    let mut acknowledged = Vec::new();
    for i in 0..200_u64 {
        let id = format!("k{i}");
        let text = match i % 4 {
            0 => pre("s", &id),
            3 => stop("s"),
            _ => post("s", &id),
        };
        let mut child = spawn(&place, &text);
        // Kills at any moment from before the first instruction to after the last, however slow the machine is.
        std::thread::sleep(Duration::from_micros(usual_us * (i * 7919 % 200) / 100));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if output.stdout.ends_with(b"\n") && i % 4 != 3 {
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            if answer["success"] == true {
                acknowledged.push((if i % 4 == 0 { "PreToolUse" } else { "PostToolUse" }.to_owned(), id));
            }
        }
    }
    let count = acknowledged.len();
    assert!((10..150).contains(&count), "{count} of 150 were acknowledged, so this test says nothing");
    assert_eq!(place.run(&["session", "list"]).code, 0);
    let seen = ids_in_the_log(&place, "s");
    for key in &acknowledged {
        assert_eq!(seen.get(key), Some(&1), "{key:?} was acknowledged");
    }
    assert!(seen.values().all(|times| *times == 1));
}

#[test]
fn a_held_session_is_answered_with_a_timeout_and_tool_calls_do_not_wait() {
    let place = Place::new();
    place.send(&["hooks", "event"], post("s", "t1")).succeeded();
    let state = place.project().join(".context-graph/live/s.state");
    let file = std::fs::File::open(state).unwrap();
    file.lock().unwrap();
    place.send(&["hooks", "event"], pre("s", "t2")).succeeded();
    let run = place.send(&["hooks", "event"], post("s", "t2"));
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.json()["error_code"], "timeout");
    assert!(run.json()["execution_time_ms"].as_u64().unwrap() < 3000);
}

#[test]
fn a_store_held_by_another_makes_a_turn_wait_in_its_journal() {
    let place = Place::new();
    place.send(&["hooks", "event"], stop("s")).succeeded();
    let data = place.project().join(".context-graph/data/context-graph.db");
    for lock in ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"] {
        let held = rusqlite::Connection::open(&data).unwrap();
        held.execute_batch(lock).unwrap();
        let started = std::time::Instant::now();
        place.send(&["hooks", "event"], post("s", lock)).succeeded();
        place.send(&["hooks", "event"], stop("s")).succeeded();
        place.send(&["hooks", "event"], start("another")).succeeded();
        assert!(started.elapsed() < Duration::from_secs(10));
    }
    let quickest_of = |ids: [&str; 3]| {
        let times = ids.map(|id| {
            let started = std::time::Instant::now();
            place.send(&["hooks", "session-start", "--stdin"], start(id)).succeeded();
            started.elapsed()
        });
        times.into_iter().min().unwrap()
    };
    let free = quickest_of(["a", "b", "c"]);
    let held = rusqlite::Connection::open(&data).unwrap();
    held.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let waiting = quickest_of(["d", "e", "f"]);
    assert!(
        waiting < free + Duration::from_millis(700),
        "a start waits once, 400 ms at most: {waiting:?}, {free:?}"
    );
    drop(held);
    place.send(&["hooks", "event"], stop("s")).succeeded();
    let asked = "SELECT seq, event FROM events WHERE event = 'Stop' ORDER BY seq";
    let run = place.run(&["audit", "sql", asked, "--json"]);
    let turns: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(turns.len(), 4, "each turn is there once: {run:?}");
}
