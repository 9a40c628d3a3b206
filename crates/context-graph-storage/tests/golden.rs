//! A store and a journal of each format that was ever written: this program and every later one must read them.
//!
//! `UPDATE_GOLDEN=1 cargo test -p context-graph-storage --test golden` rewrites those of the newest format. A
//! change of format adds a folder and leaves the others unchanged.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and is told what to do"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Place, snapshot};
use context_graph_core::audit::{Needle, Outcome};
use context_graph_core::session::{EventRecord, Ruling, Session};
use context_graph_storage::sessions::{decode_record, decode_session, encode_record, encode_session};
use context_graph_storage::store::{About, DATABASE, Filter, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord};
use serde_json::json;

fn folder(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{format}"))
}

fn records(session: &str) -> Vec<EventRecord> {
    let common = json!({"session_id": session, "transcript_path": "/t", "cwd": "/w"});
    let record = |at_ms, event: &str, own: serde_json::Value, ruling| {
        let mut payload = common.clone();
        payload["hook_event_name"] = json!(event);
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let tool_use_id = own["tool_use_id"].as_str().map(str::to_owned);
        let (link, updated_input, cuts, remembered) = (None, None, Vec::new(), Vec::new());
        let payload = payload.to_string();
        EventRecord {
            at_ms,
            tool_use_id,
            payload,
            took_us: 600,
            link,
            ruling,
            updated_input,
            cuts,
            remembered,
        }
    };
    let call = |number: u32| {
        json!({"tool_name": "Bash", "tool_use_id": format!("toolu_{session}_{number}"),
            "tool_input": {"command": format!("cargo test {number}")}})
    };
    let mut answer = call(1);
    answer["tool_response"] = json!({"stdout": "forty-two passed", "stderr": "", "interrupted": false});
    let refused = Ruling { verdict: "deny".into(), rules: vec!["guard/x".into()], reason: "not here".into() };
    vec![
        record(1000, "SessionStart", json!({"source": "startup"}), None),
        record(2000, "UserPromptSubmit", json!({"prompt": "make the tests pass"}), None),
        record(3000, "PreToolUse", call(1), None),
        record(4000, "PostToolUse", answer, None),
        record(5000, "PreToolUse", call(2), Some(refused)),
        record(6000, "Stop", json!({"stop_hook_active": false}), None),
    ]
}

fn batch(id: &str) -> FoldBatch {
    let session = Session::new(id, "/w", 1000);
    let logged = |record: EventRecord| LogRecord {
        tool_use_id: record.tool_use_id.clone(),
        bytes: encode_record(&record).unwrap(),
        source: None,
    };
    FoldBatch {
        state: Some(encode_session(&session).unwrap()),
        records: records(id).into_iter().map(logged).collect(),
        project: Some("/w".into()),
        about: Some(About::of(&session)),
        ..FoldBatch::of(snapshot(id, 6000))
    }
}

/// Writes a store with two sessions and a tombstone, and the files of a live session.
fn write(format: u32) {
    let place = Place::new();
    let store = place.store();
    for id in ["one", "gone", "two"] {
        store.commit_fold(&batch(id)).unwrap();
        if id == "one" {
            assert_eq!(store.learn_words(i64::MAX).unwrap(), 1);
        }
    }
    store.forget("gone", 7000, Why::Forgotten).unwrap();
    drop(store);
    fs::create_dir_all(place.live()).unwrap();
    let live = place.session("live");
    let mut guard = live.lock().unwrap();
    for record in records("live") {
        guard.append(&encode_record(&record).unwrap()).unwrap();
    }
    let end = guard.entries_since(None).unwrap().end();
    guard.write_state(end, &encode_session(&Session::new("live", "/w", 1000)).unwrap()).unwrap();
    drop(guard);
    let target = folder(format);
    fs::create_dir_all(&target).unwrap();
    fs::copy(place.data().join(DATABASE), target.join(DATABASE)).unwrap();
    for file in ["live.journal", "live.state"] {
        fs::copy(place.live().join(file), target.join(file)).unwrap();
    }
}

#[test]
fn stores_and_journals_of_every_format_are_read() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write(3);
    }
    for format in [1, 2, 3] {
        let place = Place::new();
        fs::create_dir_all(place.data()).unwrap();
        fs::create_dir_all(place.live()).unwrap();
        fs::copy(folder(format).join(DATABASE), place.data().join(DATABASE)).unwrap();
        for file in ["live.journal", "live.state"] {
            fs::copy(folder(format).join(file), place.live().join(file)).unwrap();
        }

        let store = place.store();
        let stats = store.stats().unwrap();
        assert_eq!((stats.sessions, stats.records, stats.calls), (2, 12, 4), "format {format}");
        let listed = store.list_sessions(&SessionQuery::default()).unwrap();
        assert_eq!(listed.len(), 2, "format {format}: the rows of sessions bear tags that hold");
        for id in ["one", "two"] {
            let log = store.log(id, 1, usize::MAX).unwrap();
            let read: Vec<_> =
                log.iter().map(|entry| decode_record(entry.bytes.as_ref().unwrap()).unwrap()).collect();
            assert_eq!(read, records(id));
            assert_eq!(store.snapshot(id).unwrap(), Some(snapshot(id, 6000)));
            let session = decode_session(&store.state(id).unwrap().unwrap()).unwrap();
            assert_eq!(session, Session::new(id, "/w", 1000));
            let said = Filter { needles: vec![Needle::new("forty-two")], ..Filter::default() };
            let found = store.entries(&said, &[], 9).unwrap();
            assert!(
                found.iter().any(|entry| entry.session_id == id && entry.outcome == Some(Outcome::Success))
            );
        }
        assert_eq!(store.tombstones().unwrap()[0].at_ms, 7000);
        assert_eq!(store.check().unwrap().first_problem, None);
        assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);

        let live = place.session("live");
        let mut guard = live.lock().unwrap();
        let cached = guard.read_state().unwrap().unwrap();
        assert_eq!(decode_session(cached.payload()).unwrap(), Session::new("live", "/w", 1000));
        let tail = guard.entries_since(None).unwrap();
        let read: Vec<_> = tail.entries().map(|entry| decode_record(entry.payload).unwrap()).collect();
        assert_eq!(read, records("live"));
        assert!(guard.take_damage().is_empty());

        // Sessions can be continued from them.
        assert_eq!(store.commit_fold(&batch("two")).unwrap(), 12);
        assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);
    }
}

/// A session as a program wrote it before sessions had titles.
#[test]
fn a_session_without_a_title_is_read() {
    let text: String = include_str!("fixtures/session-10.hex").split_whitespace().collect();
    let bytes: Vec<u8> =
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
    assert_eq!(bytes[0], 10);
    let session = decode_session(&bytes).unwrap();
    assert_eq!((session.snapshot.session_id.as_str(), session.state.title.as_str()), ("gold", ""));
    assert_eq!(session.title(), "mend the parser in src/parser.rs");
    assert_eq!((session.state.counters.prompts, session.state.counters.calls_succeeded), (1, 1));
    let mut titled = session.clone();
    titled.state.title = "Parser".to_owned();
    let again = decode_session(&encode_session(&titled).unwrap()).unwrap();
    assert_eq!((&again, again.title().as_str()), (&titled, "Parser"));
}
