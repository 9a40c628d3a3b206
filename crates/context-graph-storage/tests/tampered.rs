//! Rows that another program changes: found, named, not shown as ours, and rebuilt from the records.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, snapshot};
use context_graph_core::session::{EventRecord, FoundBy, Link, Ruling, Session};
use context_graph_storage::sessions::{encode_record, encode_session};
use context_graph_storage::store::{About, Break, DATABASE, Filter, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord, Store, StoreOptions};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

fn records(id: &str) -> Vec<EventRecord> {
    let common = json!({"session_id": id, "transcript_path": "/t", "cwd": "/w"});
    let record = |at_ms, event: &str, own: serde_json::Value| {
        let mut payload = common.clone();
        payload["hook_event_name"] = json!(event);
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let tool_use_id = own["tool_use_id"].as_str().map(str::to_owned);
        let (link, ruling, updated_input, cuts) = (None, None, None, Vec::new());
        EventRecord {
            at_ms,
            tool_use_id,
            payload: payload.to_string(),
            took_us: 600,
            link,
            ruling,
            updated_input,
            cuts,
            remembered: Vec::new(),
        }
    };
    let call = json!({"tool_name": "Read", "tool_use_id": format!("toolu_{id}"), "tool_input": {"file_path": "/w/f"}});
    let mut asked = record(3000, "PreToolUse", call.clone());
    asked.ruling =
        Some(Ruling { verdict: "ask".into(), rules: vec!["guard/x".into()], reason: "why".into() });
    let mut answer = call;
    answer["error"] = json!("no such file");
    let mut start = record(1000, "SessionStart", json!({"source": "startup"}));
    let link = Link { session_id: "before".into(), origin: FoundBy::Named, purpose_vector: [0.0; 13] };
    start.link = Some(link);
    vec![
        start,
        record(2000, "UserPromptSubmit", json!({"prompt": "go on"})),
        asked,
        record(4000, "PostToolUseFailure", answer),
        record(5000, "Stop", json!({"stop_hook_active": false})),
    ]
}

fn put(store: &Store, id: &str) {
    let session = Session::new(id, "/w", 1000);
    let logged = |record: EventRecord| LogRecord {
        tool_use_id: record.tool_use_id.clone(),
        bytes: encode_record(&record).unwrap(),
        source: None,
    };
    let mut stored = snapshot(id, 5000);
    stored.previous_session_id = (id != "before").then(|| "before".to_owned());
    let batch = FoldBatch {
        state: Some(encode_session(&session).unwrap()),
        records: records(id).into_iter().map(logged).collect(),
        project: Some("/w".into()),
        duration_ms: session.lasted_ms(),
        about: Some(About::of(&session)),
        ..FoldBatch::of(stored)
    };
    store.commit_fold(&batch).unwrap();
}

fn filled() -> Place {
    let place = Place::new();
    let store = place.store();
    for id in ["before", "one", "two"] {
        put(&store, id);
    }
    place
}

fn tamper(place: &Place, sql: &str) {
    Connection::open(place.data().join(DATABASE)).unwrap().execute_batch(sql).unwrap();
}

fn found(place: &Place) -> Option<Break> {
    place.store().verify_chains(&mut |_| {}).unwrap().first_break
}

fn rebuild(place: &Place) -> context_graph_storage::store::Rebuilt {
    Store::rebuild(&StoreOptions::new(place.data(), 0), &mut |_| {}).unwrap()
}

/// All derived rows of sessions.
fn all(place: &Place) -> Vec<Vec<Value>> {
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    let mut all = Vec::new();
    for table in ["sessions", "events", "calls", "decisions", "files", "turns", "injections"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        all.extend(rows.unwrap().map(Result::unwrap));
    }
    all
}

#[test]
fn every_column_of_every_row_is_held_against_the_records_and_made_anew_from_them() {
    let place = filled();
    let sound = all(&place);
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    for table in ["events", "calls", "decisions", "files", "turns", "injections", "sessions"] {
        let mut columns =
            connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> =
            columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for column in columns.iter().filter(|column| !["number", "session_id"].contains(&column.as_str())) {
            let which = if table == "sessions" { "number = 2" } else { "session = 2" };
            // Another value of the same type; for a key, an unused value.
            let other = format!(
                "CASE typeof({column}) WHEN 'text' THEN {column} || 'x' WHEN 'blob' THEN zeroblob(16)
                    WHEN 'null' THEN 'x' ELSE {column} + 100 END"
            );
            tamper(&place, &format!("UPDATE {table} SET {column} = {other} WHERE {which}"));
            let first =
                found(&place).unwrap_or_else(|| panic!("{table}.{column} was changed and nobody noticed"));
            if column == "session" {
                assert!(first.session_id.is_some() || first.what.contains("not there"), "{first:?}");
            } else {
                assert_eq!(first.session_id.as_deref(), Some("one"), "{table}.{column}: {first:?}");
            }
            assert!(first.what.contains("maintain --rebuild"), "{first:?}");
            let rebuilt = rebuild(&place);
            assert_eq!((rebuilt.sessions, rebuilt.left.len()), (3, 0), "{table}.{column}");
            assert_eq!(found(&place), None, "{table}.{column}");
            assert_eq!(all(&place), sound, "{table}.{column}");
        }
        if table != "sessions" {
            tamper(&place, &format!("DELETE FROM {table} WHERE session = 2"));
            assert!(found(&place).unwrap().what.contains("is missing"));
            rebuild(&place);
            tamper(&place, &format!("UPDATE {table} SET session = 99 WHERE session = 2"));
            assert!(found(&place).is_some());
            assert!(rebuild(&place).strays > 0);
            assert_eq!(found(&place), None);
        }
    }
}

#[test]
fn a_session_that_somebody_made_up_is_not_shown_as_ours() {
    let place = filled();
    tamper(
        &place,
        "CREATE TEMP TABLE s AS SELECT * FROM sessions WHERE number = 2;
         UPDATE s SET number = 4, session_id = 'made up', updated_ms = 9000000; INSERT INTO sessions SELECT * FROM s;
         CREATE TEMP TABLE c AS SELECT * FROM calls WHERE session = 2;
         UPDATE c SET session = 4, at_ms = 9000000; INSERT INTO calls SELECT * FROM c;",
    );
    let store = place.store();
    let listed = store.list_sessions(&SessionQuery { limit: Some(9), ..SessionQuery::default() }).unwrap();
    let ids: Vec<&str> = listed.iter().map(|entry| entry.session_id.as_str()).collect();
    assert_eq!(ids, ["two", "one", "before"]);
    assert_eq!(store.latest_of_project("/w", None).unwrap().unwrap().session_id, "two");
    let shown = store.entries(&Filter::default(), &[], 4).unwrap();
    assert_eq!(shown.len(), 4);
    assert!(shown.iter().all(|entry| entry.session_id != "made up"), "{shown:?}");
    let first = store.verify_chains(&mut |_| {}).unwrap().first_break.unwrap();
    assert_eq!(first.session_id.as_deref(), Some("made up"));
    drop(store);
    assert_eq!(rebuild(&place).left, ["made up"]);
    let store = place.store();
    store.forget("made up", 1, Why::Forgotten).unwrap();
    assert!(store.session("made up").unwrap().is_none());
}

#[test]
fn what_a_forgotten_session_left_in_others_is_no_break() {
    let place = filled();
    place.store().forget("before", 1, Why::Forgotten).unwrap();
    assert_eq!(found(&place), None);
    rebuild(&place);
    assert_eq!(found(&place), None);
}

#[test]
fn states_and_the_counter_of_sessions_are_held_against_the_records_and_made_anew_from_them() {
    for (change, told) in [
        ("DELETE FROM states WHERE session = 2", "snapshot is gone"),
        ("DELETE FROM states", "snapshot is gone"),
        ("UPDATE states SET snapshot = NULL WHERE session = 2", "snapshot is gone"),
        ("UPDATE states SET state = NULL WHERE session = 2", "state is gone"),
        ("UPDATE states SET state = zeroblob(99) WHERE session = 2", "state is not as it was written"),
        ("UPDATE meta SET value = '0' WHERE name = 'last_session'", "number of the last session"),
        ("DELETE FROM meta WHERE name = 'last_session'", "number of the last session"),
    ] {
        let place = filled();
        tamper(&place, change);
        let first = found(&place).unwrap_or_else(|| panic!("nobody noticed: {change}"));
        assert!(
            first.what.contains(told) && first.what.contains("maintain --rebuild"),
            "{change}: {first:?}"
        );
        rebuild(&place);
        assert_eq!(found(&place), None, "{change}");
        let store = place.store();
        let (snapshot, state) = store.snapshot_and_state("one").unwrap().unwrap();
        assert_eq!((snapshot.session_id.as_str(), state.is_some()), ("one", true), "{change}");
    }
}

#[test]
fn sessions_are_stored_whatever_the_counter_was_changed_to() {
    for value in ["0", "1", "word", "", "-7", "9223372036854775807", "99999999999999999999"] {
        let place = filled();
        tamper(&place, &format!("UPDATE meta SET value = '{value}' WHERE name = 'last_session'"));
        let store = place.store();
        put(&store, "three");
        put(&store, "four");
        assert_eq!(
            (store.ordinal("three").unwrap(), store.ordinal("four").unwrap()),
            (Some(4), Some(5)),
            "{value}"
        );
        assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None, "{value}");
    }
    let place = filled();
    place.store().forget("two", 1, Why::Forgotten).unwrap();
    tamper(&place, "UPDATE meta SET value = '0' WHERE name = 'last_session'");
    let store = place.store();
    put(&store, "three");
    assert_eq!(
        store.ordinal("three").unwrap(),
        Some(4),
        "the number of a forgotten session is not given again"
    );
}
