//! What a session store must do. Each case runs on a store in memory and on one on disk.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::ops::ControlFlow;

use common::{record, snapshot};
use context_graph_storage::store::{MAX_PROJECT_BYTES, Removed, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord, Position, StorageError, Store, StoreOptions};

/// Runs a case on a store in memory and on one on disk.
fn on_every_store(case: impl Fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    case(&Store::in_memory().unwrap());
    case(&Store::open(&StoreOptions::new(folder.path().join("data"), 0)).unwrap());
}

fn store_session(store: &Store, id: &str, timestamp_ms: i64) {
    store.commit_fold(&FoldBatch::of(snapshot(id, timestamp_ms))).unwrap();
}

fn ids(store: &Store, query: &SessionQuery) -> Vec<String> {
    store.list_sessions(query).unwrap().into_iter().map(|session| session.session_id).collect()
}

fn place(generation: u64, offset: u64) -> Position {
    Position { generation, offset, check: offset ^ generation }
}

fn assert_sound(store: &Store) {
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
}

#[test]
fn an_empty_store_answers_everything_with_nothing() {
    on_every_store(|store| {
        assert_eq!(store.snapshot("s").unwrap(), None);
        assert_eq!(store.state("s").unwrap(), None);
        assert_eq!(store.session("s").unwrap(), None);
        assert_eq!(ids(store, &SessionQuery::default()), Vec::<String>::new());
        assert_eq!(store.log("s", 0, 10).unwrap(), []);
        assert_eq!(store.find_calls("call").unwrap(), []);
        assert_eq!(store.latest_of_project("p", None).unwrap(), None);
        assert_eq!(store.successors("s").unwrap(), Vec::<String>::new());
        assert_eq!(store.forget("s", 7, Why::Forgotten).unwrap(), Removed::default());
        assert_eq!(store.stats().unwrap().sessions, 0);
        assert_sound(store);
    });
}

#[test]
fn a_fold_reads_back_whole() {
    on_every_store(|store| {
        let mut stored = snapshot("s", 1_700_000_000_123);
        stored.append_to_trajectory([0.5; 13]);
        let batch = FoldBatch {
            state: Some(vec![7; 20_000]),
            records: vec![record(Some("call"), b"pre"), record(Some("call"), b"post"), record(None, b"stop")],
            folded_to: Some(place(1, 500)),
            project: Some("/home/me/project".into()),
            duration_ms: Some(42),
            ..FoldBatch::of(stored.clone())
        };
        assert_eq!(store.commit_fold(&batch).unwrap(), 3);
        assert_eq!(store.snapshot("s").unwrap(), Some(stored));
        assert_eq!(store.state("s").unwrap(), Some(vec![7; 20_000]));
        let session = store.session("s").unwrap().unwrap();
        assert_eq!(session.timestamp_ms, 1_700_000_000_123);
        assert_eq!((session.last_seq, session.duration_ms), (3, Some(42)));
        assert_eq!(session.folded_to, Some(place(1, 500)));
        assert_eq!(session.project.as_deref(), Some("/home/me/project"));
        let log = store.log("s", 2, 10).unwrap();
        assert_eq!(log.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(log[0].tool_use_id.as_deref(), Some("call"));
        assert_eq!(log[1].bytes.as_deref(), Some(&b"stop"[..]));
        assert_eq!(store.log("s", 1, 1).unwrap().len(), 1);
        let stats = store.stats().unwrap();
        assert_eq!((stats.sessions, stats.records), (1, 3));
        assert_sound(store);
    });
}

#[test]
fn what_a_batch_leaves_out_is_kept() {
    on_every_store(|store| {
        let first = FoldBatch {
            state: Some(b"state".to_vec()),
            folded_to: Some(place(1, 9)),
            project: Some("p".into()),
            ..FoldBatch::of(snapshot("s", 1))
        };
        store.commit_fold(&first).unwrap();
        store_session(store, "s", 2);
        assert_eq!(store.state("s").unwrap().as_deref(), Some(&b"state"[..]));
        let session = store.session("s").unwrap().unwrap();
        assert_eq!((session.timestamp_ms, session.first_stored_ms), (2, 1));
        assert_eq!((session.project.as_deref(), session.folded_to), (Some("p"), Some(place(1, 9))));
    });
}

#[test]
fn folding_the_same_entries_again_adds_nothing() {
    on_every_store(|store| {
        let entry = |generation, offset| LogRecord {
            source: Some(place(generation, offset)),
            ..record(Some("c"), format!("{generation}-{offset}").as_bytes())
        };
        let batch = |records: Vec<LogRecord>| FoldBatch {
            folded_to: records.last().unwrap().source,
            records,
            ..FoldBatch::of(snapshot("s", 1))
        };
        assert_eq!(store.commit_fold(&batch(vec![entry(1, 10), entry(1, 20)])).unwrap(), 2);
        assert_eq!(store.commit_fold(&batch(vec![entry(1, 10), entry(1, 20)])).unwrap(), 2);
        assert_eq!(store.commit_fold(&batch(vec![entry(1, 20), entry(1, 30)])).unwrap(), 3);
        assert_eq!(store.commit_fold(&batch(vec![entry(2, 10)])).unwrap(), 4, "a new generation is new");
        assert_eq!(store.find_calls("c").unwrap().len(), 4);
        assert_sound(store);
    });
}

#[test]
fn sessions_are_listed_newest_first_also_within_one_millisecond() {
    on_every_store(|store| {
        for (id, time) in [("b", 5), ("a", 5), ("old", 4), ("new", 1_700_000_000_000), ("early", -3)] {
            store_session(store, id, time);
        }
        assert_eq!(ids(store, &SessionQuery::default()), ["new", "b", "a", "old", "early"]);
        let between = SessionQuery { since_ms: Some(5), until_ms: Some(5), ..SessionQuery::default() };
        assert_eq!(ids(store, &between), ["b", "a"]);
        assert_eq!(ids(store, &SessionQuery { limit: Some(2), ..SessionQuery::default() }), ["new", "b"]);
        assert_eq!(ids(store, &SessionQuery { limit: Some(0), ..SessionQuery::default() }), [""; 0]);
        assert_eq!(
            ids(store, &SessionQuery { until_ms: Some(4), ..SessionQuery::default() }),
            ["old", "early"]
        );
        store_session(store, "old", 6);
        assert_eq!(ids(store, &SessionQuery::default()), ["new", "old", "b", "a", "early"]);
        assert_sound(store);
    });
}

#[test]
fn a_walk_stops_when_told_and_may_use_the_store() {
    on_every_store(|store| {
        (0..20).for_each(|number| store_session(store, &format!("s{number}"), number));
        let mut seen = Vec::new();
        let query = SessionQuery::default();
        store
            .visit_sessions(&query, &mut |session| {
                assert!(store.snapshot(&session.session_id).unwrap().is_some());
                store_session(store, &format!("written meanwhile {}", seen.len()), 100);
                seen.push(session.session_id);
                if seen.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
            .unwrap();
        assert_eq!(seen, ["s19", "s18", "s17"]);
    });
}

#[test]
fn ids_may_contain_anything_and_are_never_confused() {
    on_every_store(|store| {
        let long = "x".repeat(256);
        let strange = [
            "a",
            "a:",
            ":a",
            "a:b",
            "a/b",
            "../../etc",
            ".",
            "..",
            "a\0b",
            "a\n",
            "é",
            "session:a",
            "x-1",
            " ",
            "idx:time:1",
            "A",
            long.as_str(),
        ];
        for (number, id) in strange.iter().enumerate() {
            let batch = FoldBatch {
                records: vec![record(Some(id), id.as_bytes())],
                project: Some((*id).to_owned()),
                ..FoldBatch::of(snapshot(id, 7))
            };
            assert_eq!(store.commit_fold(&batch).unwrap(), 1, "{number}");
        }
        for id in strange {
            assert_eq!(store.snapshot(id).unwrap().unwrap().session_id, id);
            assert_eq!(store.log(id, 0, 9).unwrap().len(), 1);
            assert_eq!(store.find_calls(id).unwrap()[0].session_id, id);
            assert_eq!(store.latest_of_project(id, None).unwrap().unwrap().session_id, id);
        }
        assert_eq!(ids(store, &SessionQuery::default()).len(), strange.len());
        for id in ["", &"x".repeat(257)] {
            assert!(matches!(store.snapshot(id), Err(StorageError::InvalidId(_))));
            assert!(matches!(
                store.commit_fold(&FoldBatch::of(snapshot(id, 1))),
                Err(StorageError::InvalidId(_))
            ));
        }
        assert_sound(store);
    });
}

#[test]
fn calls_are_found_by_their_id_whatever_its_length() {
    on_every_store(|store| {
        let long = "t".repeat(60_000);
        for id in ["one", "two"] {
            let records = vec![
                record(Some("toolu_1"), b"pre"),
                record(Some(""), b"empty"),
                record(None, b"none"),
                record(Some(&long), b"long"),
                record(Some("toolu_1"), b"post"),
            ];
            store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot(id, 1)) }).unwrap();
        }
        let found: Vec<_> = store
            .find_calls("toolu_1")
            .unwrap()
            .into_iter()
            .map(|call| (call.session_id, call.seq, call.bytes.unwrap()))
            .collect();
        let expected = [("one", 1, "pre"), ("one", 5, "post"), ("two", 1, "pre"), ("two", 5, "post")];
        assert_eq!(found, expected.map(|(id, seq, bytes)| (id.to_owned(), seq, bytes.as_bytes().to_vec())));
        assert_eq!(store.find_calls(&long).unwrap().len(), 2);
        assert_eq!(store.find_calls("").unwrap(), []);
        assert_eq!(store.find_calls("toolu_").unwrap(), []);
        assert_eq!(store.log("one", 0, 9).unwrap()[1].tool_use_id.as_deref(), Some(""));
        assert_sound(store);
    });
}

#[test]
fn the_latest_session_of_a_project_is_one_lookup() {
    on_every_store(|store| {
        for (id, time, project) in [("a", 1, "p"), ("b", 3, "p"), ("c", 9, "q"), ("d", 2, "p")] {
            let batch = FoldBatch { project: Some(project.into()), ..FoldBatch::of(snapshot(id, time)) };
            store.commit_fold(&batch).unwrap();
        }
        let latest = |project: &str, excluding| {
            store.latest_of_project(project, excluding).unwrap().map(|session| session.session_id)
        };
        assert_eq!(latest("p", None).as_deref(), Some("b"));
        assert_eq!(latest("p", Some("b")).as_deref(), Some("d"));
        assert_eq!(latest("q", Some("c")), None);
        let of_project = SessionQuery { project: Some("p".into()), ..SessionQuery::default() };
        assert_eq!(ids(store, &of_project), ["b", "d", "a"]);
        let moved = FoldBatch { project: Some("q".into()), ..FoldBatch::of(snapshot("b", 10)) };
        store.commit_fold(&moved).unwrap();
        assert_eq!((latest("p", None).as_deref(), latest("q", None).as_deref()), (Some("d"), Some("b")));
        let long = "p".repeat(MAX_PROJECT_BYTES + 1);
        let refused = FoldBatch { project: Some(long), ..FoldBatch::of(snapshot("e", 1)) };
        assert!(matches!(store.commit_fold(&refused), Err(StorageError::InvalidData(_))));
        assert_sound(store);
    });
}

#[test]
fn successors_follow_their_session() {
    on_every_store(|store| {
        store_session(store, "first", 1);
        for id in ["second", "fork"] {
            let mut next = snapshot(id, 2);
            next.previous_session_id = Some("first".into());
            store.commit_fold(&FoldBatch::of(next)).unwrap();
        }
        assert_eq!(store.successors("first").unwrap(), ["fork", "second"]);
        assert_eq!(store.successors("fir").unwrap(), [""; 0]);
        store_session(store, "fork", 3);
        assert_eq!(store.successors("first").unwrap(), ["second"]);
        assert_sound(store);
    });
}

#[test]
fn forgetting_removes_everything_and_says_what() {
    on_every_store(|store| {
        let keep = FoldBatch {
            records: vec![record(Some("shared"), b"keep")],
            project: Some("p".into()),
            ..FoldBatch::of(snapshot("keep", 1))
        };
        store.commit_fold(&keep).unwrap();
        let mut gone = snapshot("gone", 2);
        gone.previous_session_id = Some("keep".into());
        let gone = FoldBatch {
            state: Some(b"state".to_vec()),
            records: vec![record(Some("shared"), b"1"), record(Some("own"), b"2"), record(None, b"3")],
            project: Some("p".into()),
            ..FoldBatch::of(gone)
        };
        store.commit_fold(&gone).unwrap();
        let mut next = snapshot("next", 3);
        next.previous_session_id = Some("gone".into());
        store.commit_fold(&FoldBatch::of(next)).unwrap();

        let removed = store.forget("gone", 7, Why::Forgotten).unwrap();
        let expected = Removed { snapshot: true, state: true, records: 3, rows: 3 };
        assert_eq!(removed, expected);
        assert_eq!(store.snapshot("gone").unwrap(), None);
        assert_eq!(store.session("gone").unwrap(), None);
        assert_eq!(store.log("gone", 0, 9).unwrap(), []);
        assert_eq!(store.find_calls("own").unwrap(), []);
        assert_eq!(store.find_calls("shared").unwrap().len(), 1);
        assert_eq!(store.successors("keep").unwrap(), [""; 0]);
        assert_eq!(store.successors("gone").unwrap(), [""; 0]);
        assert_eq!(store.snapshot("next").unwrap().unwrap().previous_session_id, None);
        assert_eq!(ids(store, &SessionQuery::default()), ["next", "keep"]);
        assert_eq!(store.latest_of_project("p", None).unwrap().unwrap().session_id, "keep");
        assert_eq!(store.forget("gone", 7, Why::Forgotten).unwrap(), Removed::default());
        assert_sound(store);

        store.commit_fold(&gone_again()).unwrap();
        assert_eq!(store.log("gone", 0, 9).unwrap().len(), 1, "a new life starts with an empty log");
        assert_sound(store);
    });
}

fn gone_again() -> FoldBatch {
    FoldBatch { records: vec![record(None, b"new")], ..FoldBatch::of(snapshot("gone", 9)) }
}

#[test]
fn an_update_sees_what_is_stored_and_a_failed_one_changes_nothing() {
    on_every_store(|store| {
        let created = store.update("s", &mut |stored| {
            assert_eq!(stored, None);
            Ok(FoldBatch::of(snapshot("s", 1)))
        });
        assert_eq!(created.unwrap(), snapshot("s", 1));
        let failed = store.update("s", &mut |stored| {
            assert_eq!(stored, Some(snapshot("s", 1)));
            Err(StorageError::InvalidData("no".into()))
        });
        assert!(matches!(failed, Err(StorageError::InvalidData(_))));
        let other = store.update("s", &mut |_| Ok(FoldBatch::of(snapshot("other", 1))));
        assert!(matches!(other, Err(StorageError::InvalidData(_))));
        assert_eq!(store.snapshot("s").unwrap(), Some(snapshot("s", 1)));
        assert_eq!(store.session("other").unwrap(), None);
        assert_sound(store);
    });
}

#[test]
fn large_records_and_many_of_them_fit() {
    on_every_store(|store| {
        let records = (0_u32..200).map(|number| record(Some("c"), &vec![1; number as usize * 97])).collect();
        let big = FoldBatch { records, state: Some(vec![3; 1 << 20]), ..FoldBatch::of(snapshot("s", 1)) };
        assert_eq!(store.commit_fold(&big).unwrap(), 200);
        let log = store.log("s", 0, 1000).unwrap();
        assert!(log.iter().enumerate().all(|(at, entry)| entry.bytes.as_ref().unwrap().len() == at * 97));
        assert_eq!(store.find_calls("c").unwrap().len(), 200);
        assert_sound(store);
    });
}
