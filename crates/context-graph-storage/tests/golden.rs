//! A store and a journal of each format that was ever written: this program and every later one must read them.
//!
//! A change of format adds a number to `FORMATS`, and `UPDATE_GOLDEN=1 cargo test -p context-graph-storage --test golden`
//! makes its folder. Older folders are never written again: this program cannot write their formats.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and is told what to do"
)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use common::{Place, snapshot};
use context_graph_core::audit::{Needle, Outcome};
use context_graph_core::session::{EventRecord, Ruling, Scheduled, Session};
use context_graph_storage::hex::unhex;
use context_graph_storage::sessions::{
    decode_record, decode_session, encode_record, encode_session, pack_session,
};
use context_graph_storage::store::{About, DATABASE, Filter, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord};
use rusqlite::Connection;
use serde_json::json;

/// The folders of fixtures, oldest first.
const FORMATS: [u32; 5] = [1, 2, 3, 4, 5];
const NEWEST: u32 = FORMATS[FORMATS.len() - 1];
/// From this format on, the fixtures' sessions contain work, and stored sessions are packed, as hooks write them.
const LIKE_HOOKS: u32 = 4;

const LIVE_FILES: [&str; 2] = ["live.journal", "live.state"];

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

/// A session after these records, with everything that its format can hold: a title, and a prompt that the agent scheduled.
fn session(id: &str) -> Session {
    let mut session = Session::new(id, "/w", 1000);
    let mut records = records(id);
    let mut ordered = records[3].clone();
    ordered.payload = ordered.payload.replace("\"Bash\"", "\"ScheduleWakeup\"").replace("command", "prompt");
    records.insert(4, ordered);
    for record in records {
        session.step(&record, &record.event().unwrap());
    }
    "The tests".clone_into(&mut session.state.title);
    session
}

/// Checks a session of a fixture.
#[track_caller]
fn is_as_written(read: &Session, id: &str, format: u32) {
    if format < LIKE_HOOKS {
        assert_eq!(*read, Session::new(id, "/w", 1000), "format {format}");
        return;
    }
    let state = &read.state;
    assert_eq!((read.snapshot.session_id.as_str(), state.project.as_str()), (id, "/w"));
    assert_eq!(
        (state.title.as_str(), state.work.requests.first.as_str()),
        ("The tests", "make the tests pass")
    );
    assert_eq!((state.counters.prompts, state.counters.calls_succeeded, state.counters.turns), (1, 1, 1));
    assert_eq!((state.started_ms, state.updated_ms), (1000, 6000));
    assert_eq!(state.scheduled != Scheduled::default(), format > 4, "format {format}");
}

fn batch(id: &str) -> FoldBatch {
    let session = session(id);
    let logged = |record: EventRecord| LogRecord {
        tool_use_id: record.tool_use_id.clone(),
        bytes: encode_record(&record).unwrap(),
        source: None,
    };
    FoldBatch {
        state: Some(pack_session(&encode_session(&session).unwrap())),
        records: records(id).into_iter().map(logged).collect(),
        project: Some("/w".into()),
        about: Some(About::of(&session)),
        ..FoldBatch::of(snapshot(id, 6000))
    }
}

/// Writes a store with two sessions and a tombstone, and the files of a live session.
fn write() -> Place {
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
    let live = place.session("live");
    let mut lock = live.lock().unwrap();
    for record in records("live") {
        lock.append(&encode_record(&record).unwrap()).unwrap();
    }
    let end = lock.entries_since(None).unwrap().end();
    lock.write_state(end, &encode_session(&session("live")).unwrap()).unwrap();
    drop(lock);
    place
}

/// A copy of a fixture.
fn copied(format: u32) -> Place {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    drop(place.live_folder());
    fs::copy(folder(format).join(DATABASE), place.data().join(DATABASE)).unwrap();
    for file in LIVE_FILES {
        fs::copy(folder(format).join(file), place.live().join(file)).unwrap();
    }
    place
}

/// The numbers of all formats in a place, by name.
fn formats(place: &Place) -> Vec<(&'static str, Vec<u8>)> {
    let database = fs::read(place.data().join(DATABASE)).unwrap();
    let [journal, cache] = LIVE_FILES.map(|file| fs::read(place.live().join(file)).unwrap());
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    let blob = |asked: &str| connection.query_row(asked, [], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let store = place.store();
    let live = place.session("live").read_state_unlocked().unwrap().state.unwrap();
    let first = |bytes: &[u8]| bytes[..1].to_vec();
    vec![
        // SQLite keeps `user_version` here.
        ("store", database[60..64].to_vec()),
        ("stored session", first(&store.state("one").unwrap().unwrap())),
        // After the tag.
        ("snapshot", blob("SELECT snapshot FROM states LIMIT 1")[16..22].to_vec()),
        ("block", first(&blob("SELECT content FROM blocks LIMIT 1"))),
        ("record", first(store.log("one", 1, 1).unwrap()[0].bytes.as_ref().unwrap())),
        // After the beginning of its first frame.
        ("journal", journal[24..26].to_vec()),
        ("cache", cache[..8].to_vec()),
        ("live session", first(live.payload())),
    ]
}

fn update_if_asked() {
    static ONCE: Once = Once::new();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        ONCE.call_once(update);
    }
}

/// Writes the newest fixture. An existing one is only replaced if its formats are the current ones.
fn update() {
    let (target, place) = (folder(NEWEST), write());
    if target.exists() {
        let said = "this would change the formats of an existing fixture: add a number to FORMATS";
        assert_eq!(formats(&copied(NEWEST)), formats(&place), "{said}");
    }
    fs::create_dir_all(&target).unwrap();
    fs::copy(place.data().join(DATABASE), target.join(DATABASE)).unwrap();
    for file in LIVE_FILES {
        fs::copy(place.live().join(file), target.join(file)).unwrap();
    }
}

#[test]
fn the_newest_fixture_has_the_formats_that_are_written_today() {
    update_if_asked();
    let place = copied(NEWEST);
    assert_eq!(
        formats(&place),
        formats(&write()),
        "a new format needs a fixture of its own: add a number to FORMATS"
    );
    // The bytes of a format must not change either: what is read is written back unchanged.
    let live = place.session("live").read_state_unlocked().unwrap().state.unwrap();
    assert_eq!(encode_session(&decode_session(live.payload()).unwrap()).unwrap(), live.payload());
    for entry in place.store().log("one", 1, usize::MAX).unwrap() {
        let bytes = entry.bytes.unwrap();
        assert_eq!(encode_record(&decode_record(&bytes).unwrap()).unwrap(), bytes);
    }
}

#[test]
fn stores_and_journals_of_every_format_are_read() {
    update_if_asked();
    for format in FORMATS {
        let place = copied(format);
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
            is_as_written(&decode_session(&store.state(id).unwrap().unwrap()).unwrap(), id, format);
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
        let mut lock = live.lock().unwrap();
        let cached = lock.read_state().unwrap().unwrap();
        is_as_written(&decode_session(cached.payload()).unwrap(), "live", format);
        let tail = lock.entries_since(None).unwrap();
        let read: Vec<_> = tail.entries().map(|entry| decode_record(entry.payload).unwrap()).collect();
        assert_eq!(read, records("live"));
        assert!(lock.take_damage().is_empty());

        // Sessions can be continued from them.
        assert_eq!(store.commit_fold(&batch("two")).unwrap(), 12);
        assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);
    }
}

/// A packed session as a program with this format wrote it.
fn packed_session(format: u8, text: &str) -> Session {
    let bytes = unhex(&text.split_whitespace().collect::<String>()).unwrap();
    assert_eq!(bytes[0], format);
    decode_session(&bytes).unwrap()
}

/// Packed sessions in formats that have no fixture, or only a fixture with unpacked sessions.
#[test]
fn packed_sessions_of_earlier_formats_are_read() {
    for (format, text) in [
        (4, include_str!("fixtures/session-4.hex")),
        (6, include_str!("fixtures/session-6.hex")),
        (8, include_str!("fixtures/session-8.hex")),
    ] {
        let session = packed_session(format, text);
        let Session { snapshot, state, .. } = &session;
        assert_eq!((snapshot.session_id.as_str(), state.project.as_str()), ("gold", "/w"), "{format}");
        assert_eq!(state.work.requests.first, "make the tests pass", "{format}");
        assert_eq!((state.counters.prompts, state.counters.calls_succeeded), (1, 1), "{format}");
        assert_eq!((state.started_ms, state.updated_ms), (1000, 6000), "{format}");
        assert_eq!(decode_session(&encode_session(&session).unwrap()).unwrap(), session, "{format}");
    }
}

/// A session as a program wrote it before sessions had titles.
#[test]
fn a_session_without_a_title_is_read() {
    let session = packed_session(10, include_str!("fixtures/session-10.hex"));
    assert_eq!((session.snapshot.session_id.as_str(), session.state.title.as_str()), ("gold", ""));
    assert_eq!(session.title(), "mend the parser in src/parser.rs");
    assert_eq!((session.state.counters.prompts, session.state.counters.calls_succeeded), (1, 1));
    let mut titled = session.clone();
    titled.state.title = "Parser".to_owned();
    let again = decode_session(&encode_session(&titled).unwrap()).unwrap();
    assert_eq!((&again, again.title().as_str()), (&titled, "Parser"));
}
