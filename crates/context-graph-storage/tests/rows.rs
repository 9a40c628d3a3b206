//! Rows derived from records: the same however the records arrived, found by their words, and removed with
//! their session.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{Dice, Place, snapshot};
use context_graph_core::audit::Needle;
use context_graph_core::session::{EventRecord, Ruling};
use context_graph_storage::sessions::encode_record;
use context_graph_storage::store::{DATABASE, Filter, Why};
use context_graph_storage::{FoldBatch, LogRecord, Store};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::{Map, json};

fn record(at_ms: i64, event: &str, own: serde_json::Value, ruling: Option<Ruling>) -> EventRecord {
    let mut payload =
        json!({"hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": "/w"});
    let own: Map<_, _> = own.as_object().unwrap().clone();
    payload.as_object_mut().unwrap().extend(own.clone());
    let tool_use_id = own.get("tool_use_id").and_then(|id| id.as_str()).map(str::to_owned);
    let payload = payload.to_string();
    EventRecord {
        at_ms,
        tool_use_id,
        payload,
        took_us: 7,
        link: None,
        ruling,
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    }
}

/// A session with all difficult cases: parallel calls, calls without an answer, answered late, requested again,
/// known only to a batch, requests without an id, subagents, aborted turns, several runs.
fn story(dice: &mut Dice, length: usize) -> Vec<EventRecord> {
    let mut told = Vec::new();
    let mut open: Vec<(String, serde_json::Value)> = Vec::new();
    let mut at_ms = 1_700_000_000_000;
    while told.len() < length {
        at_ms += i64::try_from(dice.below(5000)).unwrap();
        let number = told.len();
        let mut say = |event: &str, own, ruling| told.push(record(at_ms, event, own, ruling));
        match dice.below(20) {
            0 => say("UserPromptSubmit", json!({"prompt": format!("prompt {number}")}), None),
            1 => say("Stop", json!({"stop_hook_active": false}), None),
            2 if dice.below(3) == 0 => say("SessionEnd", json!({"reason": "other"}), None),
            2 => say("SessionStart", json!({"source": "resume"}), None),
            3 => say("SessionStart", json!({"source": "compact"}), None),
            4 => say(
                "SubagentStop",
                json!({"agent_id": "a1", "agent_type": "Explore", "stop_hook_active": false,
                "agent_transcript_path": "/t"}),
                None,
            ),
            5..=9 => {
                let id = format!("toolu_{number}");
                let mut own = json!({"tool_name": "Bash", "tool_input": {"command": format!("ls /w/{}", dice.below(9))},
                    "tool_use_id": id});
                if dice.below(4) == 0 {
                    own["agent_id"] = json!("a1");
                    own["agent_type"] = json!("Explore");
                }
                let ruling = (dice.below(6) == 0).then(|| Ruling {
                    verdict: ["deny", "ask", "defer"][dice.below(3)].to_owned(),
                    rules: vec!["guard/x".into(), "guard/y".into()],
                    reason: "because".into(),
                });
                say("PreToolUse", own.clone(), ruling);
                open.push((id, own));
            }
            10 => {
                let calls: Vec<_> = (0..dice.below(3))
                    .map(|part| {
                        json!({"tool_name": "Read", "tool_input": {"file_path": "/w/f"},
                    "tool_use_id": format!("batch_{number}_{part}"), "tool_response": "text"})
                    })
                    .collect();
                say("PostToolBatch", json!({"tool_calls": calls}), None);
            }
            // An answered call may be answered or requested once more, much later.
            _ if !open.is_empty() => {
                let (_, own) = open[dice.below(open.len())].clone();
                match dice.below(8) {
                    0 => say("PreToolUse", own, None),
                    1 => {
                        let mut own = own;
                        own.as_object_mut().unwrap().remove("tool_use_id");
                        say("PermissionRequest", own, None);
                    }
                    2 => {
                        let mut own = own;
                        own["error"] = json!(format!("Exit code {number}"));
                        say("PostToolUseFailure", own, None);
                    }
                    _ => {
                        let mut own = own;
                        own["tool_response"] =
                            json!({"stdout": format!("said {number}"), "interrupted": false});
                        say("PostToolUse", own, None);
                    }
                }
                if open.len() > 6 {
                    open.remove(0);
                }
            }
            _ => say(
                "Notification",
                json!({"message": format!("note {number}"), "notification_type": "x"}),
                None,
            ),
        }
    }
    told
}

fn fold(store: &Store, id: &str, records: &[EventRecord]) {
    let records = records.iter().map(|record| LogRecord {
        tool_use_id: record.tool_use_id.clone(),
        bytes: encode_record(record).unwrap(),
        source: None,
    });
    let batch = FoldBatch { records: records.collect(), ..FoldBatch::of(snapshot(id, 1_800_000_000_000)) };
    store.commit_fold(&batch).unwrap();
}

/// All rows derived from records.
fn rows(place: &Place) -> Vec<Vec<Value>> {
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    let mut all = Vec::new();
    for table in ["events", "calls", "decisions", "files", "turns", "injections"] {
        let mut statement = connection.prepare(&format!("SELECT '{table}', * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        all.extend(rows.unwrap().map(Result::unwrap));
    }
    all
}

#[test]
fn rows_are_the_same_whatever_turns_the_records_came_in() {
    for seed in 1..40 {
        let mut dice = Dice(seed * 7919);
        let length = 20 + dice.below(150);
        let told = story(&mut dice, length);
        let (at_once, in_pieces) = (Place::new(), Place::new());
        fold(&at_once.store(), "s", &told);
        let store = in_pieces.store();
        let mut rest = &told[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((1 + dice.below(12)).min(rest.len()));
            fold(&store, "s", piece);
            rest = after;
        }
        let (expected, found) = (rows(&at_once), rows(&in_pieces));
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(found, expected, "seed {seed}");
        }
        assert_eq!(found.len(), expected.len(), "seed {seed}");
        assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);
    }
}

#[test]
fn words_are_found_whether_the_index_knows_them_or_not() {
    let place = Place::new();
    let store = place.store();
    let mut dice = Dice(77);
    for number in 0..30 {
        let told = story(&mut dice, 30);
        fold(&store, &format!("s{number}"), &told);
    }
    let search = |text: &str, limit: usize| {
        let filter = Filter { needles: vec![Needle::new(text)], ..Filter::default() };
        let found = store.entries(&filter, &[], limit).unwrap();
        found.into_iter().map(|entry| (entry.session_id, entry.seq, entry.is_call)).collect::<Vec<_>>()
    };
    let questions =
        ["said 1", "PROMPT", "exit code 2", "no such words", "be", "\"", "note 7", "guard/x", "because"];
    let limits = [1, 3, usize::MAX];
    let ask = || questions.map(|text| limits.map(|limit| search(text, limit)));
    let before = ask();
    assert!(before[0][2].len() > 3 && before[3][2].is_empty() && before[4][0].len() == 1, "{before:?}");
    // First some blocks are indexed, then all.
    assert!(store.learn_words(i64::MAX).unwrap() > 0);
    assert!(store.unlearned().unwrap() > 0);
    assert_eq!(ask(), before);
    while store.learn_words(i64::MAX).unwrap() > 0 {}
    assert_eq!(store.unlearned().unwrap(), 0);
    assert_eq!(ask(), before);
    // Later records are in a block of their own.
    fold(&store, "s3", &[record(1_900_000_000_000, "Notification", json!({"message": "said 1 last"}), None)]);
    assert_eq!(search("said 1 last", 9), [("s3".to_owned(), 31, false)]);
    assert_eq!(search("said 1", 1), [("s3".to_owned(), 31, false)]);
}

#[test]
fn no_word_of_a_forgotten_session_is_in_any_file() {
    let place = Place::new();
    let store = place.store();
    // Words that have nothing in common with any others.
    let word =
        |id: &str, turn: usize| blake3::hash(format!("{id} {turn}").as_bytes()).to_hex()[..24].to_owned();
    for turn in 0..20 {
        for id in ["kept", "gone"] {
            let word = word(id, turn);
            let at_ms = i64::try_from(turn).unwrap();
            let call = |event: &str, more: serde_json::Value| {
                let mut own = json!({"tool_name": "Bash", "tool_use_id": format!("toolu_{word}"),
                    "tool_input": {"command": format!("cat /w/{word}"), "description": word}});
                own.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                record(at_ms, event, own, None)
            };
            let ruling = Ruling { verdict: "ask".into(), rules: vec![word.clone()], reason: word.clone() };
            fold(
                &store,
                id,
                &[
                    record(at_ms, "UserPromptSubmit", json!({"prompt": word}), Some(ruling)),
                    call("PreToolUse", json!({})),
                    call("PostToolUseFailure", json!({"error": word})),
                    record(at_ms, "Stop", json!({"stop_hook_active": false}), None),
                ],
            );
        }
        if turn % 7 == 3 {
            while store.learn_words(i64::MAX).unwrap() > 0 {}
        }
    }
    let found = |id: &str| {
        let mut found = 0;
        for file in fs::read_dir(place.data()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            for turn in 0..20 {
                let word = word(id, turn).into_bytes();
                // Half a word must not remain either.
                found +=
                    bytes.windows(10).filter(|part| *part == &word[..10] || *part == &word[14..]).count();
            }
        }
        found
    };
    assert!(found("gone") > 100, "{}", found("gone"));
    store.forget("gone", 1, Why::Forgotten).unwrap();
    assert_eq!(found("gone"), 0);
    assert!(found("kept") > 100, "{}", found("kept"));
    let said = |id: &str| {
        let filter = Filter { needles: vec![Needle::new(&word(id, 3))], ..Filter::default() };
        store.entries(&filter, &[], 9).unwrap().len()
    };
    assert_eq!((said("gone"), said("kept")), (0, 2));
    assert_eq!(store.check().unwrap().first_problem, None);
    assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);
    drop(store);
    // The index may contain only what is kept: after removing that too, it is empty.
    place.store().forget("kept", 2, Why::Forgotten).unwrap();
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    connection.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)").unwrap();
    let left: i64 = connection.query_row("SELECT count(*) FROM terms", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "three letters of what was forgotten are in the index");
}
