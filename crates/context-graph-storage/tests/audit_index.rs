//! The index says what the records say, and may be lost, damaged or out of date without anyone being told wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use context_graph_core::audit::{Entry, Needle, Origin, Outcome, correlate};
use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{EventRecord, Ruling};
use context_graph_storage::audit_index::{AuditIndex, Built, Filter, Row, Trail};
use context_graph_storage::sessions::{Sessions, encode_record};
use context_graph_storage::store::LmdbStore;
use context_graph_storage::{FoldBatch, LogRecord, SessionStore, StateFolder};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

fn record(name: &str, at_ms: i64, own: &Value) -> EventRecord {
    let mut payload =
        json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/w"});
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    let tool_use_id = payload["tool_use_id"].as_str().map(str::to_owned);
    EventRecord {
        at_ms,
        tool_use_id,
        payload: payload.to_string(),
        took_us: 77,
        link: None,
        ruling: None,
        updated_input: None,
        cuts: Vec::new(),
    }
}

fn call(session: &str, number: usize, at_ms: i64) -> Vec<EventRecord> {
    let asked = json!({"tool_name": "Bash", "tool_use_id": format!("{session}-{number}"),
        "tool_input": {"command": format!("cat src/file{number}.rs")}});
    let mut answered = asked.clone();
    answered["tool_response"] = json!({"stdout": format!("the words of {session} {number}")});
    answered["duration_ms"] = json!(5);
    vec![record("PreToolUse", at_ms, &asked), record("PostToolUse", at_ms + 9, &answered)]
}

struct Place {
    folder: TempDir,
    sessions: Sessions,
    store: LmdbStore,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open_or_create(folder.path(), None).unwrap();
        let store = state.open_store(0).unwrap();
        Self { folder, sessions: Sessions::new(state), store }
    }

    fn add(&self, session: &str, at_ms: i64, records: &[EventRecord]) {
        let records = records
            .iter()
            .map(|record| LogRecord {
                tool_use_id: record.tool_use_id.clone(),
                bytes: encode_record(record).unwrap(),
                source: None,
            })
            .collect();
        let snapshot = SessionIdentitySnapshot::with_timestamp(session, at_ms);
        self.store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot) }).unwrap();
    }

    fn trail(&self) -> Trail<'_> {
        Trail::open(&self.sessions, Some(&self.store)).unwrap()
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join(".context-graph/index")
    }

    /// What all tables say, newest session first.
    fn told(&self) -> Vec<(String, String, Option<Outcome>)> {
        let mut trail = self.trail();
        let mut told = Vec::new();
        for entry in trail.sessions().to_vec() {
            let table = trail.table(&entry).unwrap();
            let rows =
                table.rows().map(|row| (entry.session_id.clone(), row.subject().to_owned(), row.outcome()));
            told.extend(rows);
        }
        trail.save();
        told
    }

    fn fresh(&self) -> usize {
        let trail = self.trail();
        trail.sessions().iter().filter(|entry| trail.is_fresh(entry)).count()
    }
}

#[test]
fn a_table_is_made_once_and_again_when_the_session_has_grown() {
    let place = Place::new();
    for n in 0..5 {
        place.add(&format!("s{n}"), 1000 + n, &call("x", 1, 1000));
    }
    assert_eq!(place.fresh(), 0);
    let told = place.told();
    assert_eq!((told.len(), place.fresh()), (5, 5));
    assert_eq!(told, place.told(), "read back as it was made");
    place.add("s3", 2000, &call("x", 2, 2000));
    assert_eq!(place.fresh(), 4);
    assert_eq!(place.told().len(), 6);
    assert_eq!(place.fresh(), 5);
}

#[test]
fn many_small_savings_leave_few_files() {
    let place = Place::new();
    for n in 0..40 {
        place.add(&format!("s{n}"), 1000 + n, &call("x", 1, 1000));
        place.told();
    }
    let files = fs::read_dir(place.index()).unwrap().count();
    assert!(files <= 8, "{files} files");
    assert_eq!(place.fresh(), 40);
}

#[test]
fn what_is_forgotten_leaves_the_index_too() {
    let place = Place::new();
    for n in 0..9 {
        place.add(&format!("s{n}"), 1000 + n, &call(&format!("secret{n}"), 1, 1000));
    }
    place.told();
    let holds = |word: &str| {
        let files = fs::read_dir(place.index()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
        files.into_iter().any(|bytes| bytes.windows(word.len()).any(|run| run == word.as_bytes()))
    };
    assert!(holds("secret4"));
    place.store.forget("s4", 7, context_graph_storage::store::Why::Forgotten).unwrap();
    assert_eq!(place.told().len(), 8);
    assert!(!holds("secret4") && holds("secret5"));
    AuditIndex::discard(place.sessions.folder()).unwrap();
    assert!(!place.index().exists());
    assert_eq!((place.fresh(), place.told().len()), (0, 8));
}

#[test]
fn a_damaged_index_is_made_again_and_never_believed() {
    let place = Place::new();
    for n in 0..3 {
        place.add(&format!("s{n}"), 1000 + n, &call("x", 1, 1000));
    }
    let told = place.told();
    let file = fs::read_dir(place.index()).unwrap().map(|file| file.unwrap().path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|e| e == "tables")).unwrap();
    let whole = fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 200) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        fs::write(&file, &damaged).unwrap();
        // Only read: saving would mend it.
        let mut trail = place.trail();
        let mut found = Vec::new();
        for entry in trail.sessions().to_vec() {
            let table = trail.table(&entry).unwrap();
            found.extend(
                table.rows().map(|row| (entry.session_id.clone(), row.subject().to_owned(), row.outcome())),
            );
        }
        assert_eq!(found, told, "byte {at}");
    }
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(place.told(), told, "cut to {length}");
        fs::remove_dir_all(place.index()).unwrap();
        place.told();
        fs::remove_dir_all(place.index()).unwrap();
        fs::create_dir(place.index()).unwrap();
    }
}

#[test]
fn where_nothing_can_be_written_everything_can_be_read() {
    let place = Place::new();
    place.add("s", 1000, &call("x", 1, 1000));
    // A file in the place of the folder: not even root can write there.
    fs::write(place.index(), "").unwrap();
    assert_eq!(place.told().len(), 1);
    assert_eq!(place.fresh(), 0);
}

#[test]
fn the_signature_passes_over_sessions_that_do_not_say_it() {
    let place = Place::new();
    for n in 0..20 {
        place.add(&format!("s{n}"), 1000 + n, &call(&format!("topic{}", n * 7919), 1, 1000));
    }
    place.told();
    let trail = place.trail();
    let may = |text: &str| {
        let needles = [Needle::new(text)];
        trail.sessions().iter().filter(|entry| trail.may_say(entry, &needles)).count()
    };
    assert_eq!((may("Topic7919 "), may("the words"), may("nothing of this")), (1, 20, 0));
    assert_eq!(may("xy"), 20, "two letters leave no mark");
}

fn rows_fit(records: &[(u64, EventRecord)], filter: &Filter) -> Vec<u64> {
    let table = Built::of("s", records).into_table().unwrap();
    let Some(matcher) = filter.on(&table) else { return Vec::new() };
    table.rows().filter(|row| matcher.matches(*row)).map(|row| row.first_seq()).collect()
}

#[test]
fn filters_say_what_fits() {
    let mut denied = call("s", 2, 2000).remove(0);
    let rules = vec!["guard/rm".to_owned()];
    denied.ruling = Some(Ruling { verdict: "deny".into(), rules, reason: "no".into() });
    let mut records = call("s", 1, 1000);
    records.push(denied);
    records.push(record("UserPromptSubmit", 3000, &json!({"prompt": "hello"})));
    let sub = json!({"agent_id": "a1", "agent_type": "Explore", "tool_name": "Read", "tool_use_id": "r",
        "tool_input": {"file_path": "/w/docs/a.md"}});
    records.push(record("PreToolUse", 4000, &sub));
    let records: Vec<(u64, EventRecord)> = (1..).zip(records).collect();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let none = Filter::default;
    let cases = [
        (none(), vec![1, 3, 4, 5]),
        (Filter { tools: words(&["Bash"]), ..none() }, vec![1, 3]),
        (Filter { tools: words(&["*"]), ..none() }, vec![1, 3, 5]),
        (Filter { tools: words(&["UserPromptSubmit"]), ..none() }, vec![]),
        (Filter { events: words(&["PostToolUse", "UserPromptSubmit"]), ..none() }, vec![1, 4]),
        (Filter { agents: words(&["Explore"]), ..none() }, vec![5]),
        (Filter { agents: words(&["main"]), ..none() }, vec![1, 3, 4]),
        (Filter { agents: words(&["main", "a1"]), ..none() }, vec![1, 3, 4, 5]),
        (Filter { verdicts: words(&["deny"]), ..none() }, vec![3]),
        (Filter { outcomes: vec![Outcome::Success, Outcome::Denied], ..none() }, vec![1, 3]),
        (Filter { rules: words(&["guard"]), ..none() }, vec![3]),
        (Filter { paths: words(&["file1"]), ..none() }, vec![1]),
        (Filter { paths: words(&["*.md"]), ..none() }, vec![5]),
        (Filter { paths: words(&["nowhere"]), ..none() }, vec![]),
        (Filter { since_ms: Some(2000), until_ms: Some(3000), ..none() }, vec![3, 4]),
        (Filter { tools: words(&["Bash"]), verdicts: words(&["deny"]), ..none() }, vec![3]),
    ];
    for (filter, expected) in cases {
        assert_eq!(rows_fit(&records, &filter), expected, "{filter:?}");
    }
}

/// What a row must say of an entry.
fn agrees(row: Row<'_>, entry: &Entry) {
    assert_eq!((row.at_ms(), row.first_seq()), (entry.at_ms(), entry.first_seq()));
    assert_eq!(row.parts().map(|part| part.seq).collect::<Vec<_>>(), entry.seqs());
    assert!(row.parts().all(|part| part.took_us == 77 && !part.event.is_empty()));
    assert_eq!(
        (row.agent_id(), row.agent_kind()),
        (entry.agent().id.as_deref(), entry.agent().kind.as_deref())
    );
    match entry {
        Entry::Call(call) => {
            assert!(row.is_call());
            assert_eq!(
                (row.name(), row.subject(), row.tool_use_id()),
                (&*call.tool, &*call.subject, &*call.tool_use_id)
            );
            assert_eq!((row.outcome(), row.evidence()), (Some(call.outcome), Some(call.evidence)));
            assert_eq!(row.duration_ms().map(u64::from), call.duration_ms);
            assert_eq!(row.between_ms().map(u64::from), call.between_ms);
            assert_eq!(row.paths().collect::<Vec<_>>(), call.paths);
            assert_eq!(row.verdict(), call.ruling().map(|ruling| ruling.verdict.as_str()));
            assert_eq!(row.batch_seq(), call.batch_seq);
            assert_eq!(row.permission_asked(), call.permission_asked);
        }
        Entry::Event(event) => {
            assert!(!row.is_call());
            assert_eq!((row.name(), row.subject(), row.outcome()), (&*event.event, &*event.subject, None));
        }
    }
}

proptest! {
    #[test]
    fn a_table_says_what_the_entries_say(choices in prop::collection::vec((0u8..8, 0usize..6, 0i64..50, any::<bool>()), 0..40)) {
        let mut records = Vec::new();
        let mut at_ms = 1_000;
        for (kind, id, later, sub) in choices {
            at_ms += later;
            let mut own = json!({"tool_name": "Bash", "tool_input": {"command": format!("é ls src/{id}.rs")},
                "tool_use_id": format!("id{id}")});
            if sub {
                own["agent_id"] = json!("a");
                own["agent_type"] = json!("Plan");
            }
            let record = match kind {
                0 | 1 => record("PreToolUse", at_ms, &own),
                2 => {
                    own["tool_response"] = json!("x");
                    own["duration_ms"] = json!(later);
                    record("PostToolUse", at_ms, &own)
                }
                3 => {
                    own["error"] = json!("x");
                    record("PostToolUseFailure", at_ms, &own)
                }
                4 => {
                    own.as_object_mut().unwrap().remove("tool_use_id");
                    record("PermissionRequest", at_ms, &own)
                }
                5 => {
                    let call = json!({"tool_name": "Nope", "tool_input": {}, "tool_use_id": format!("id{id}")});
                    record("PostToolBatch", at_ms, &json!({"tool_calls": [call]}))
                }
                6 => record("UserPromptSubmit", at_ms, &json!({"prompt": "p"})),
                _ => record("SomethingNew", at_ms, &json!({})),
            };
            records.push(record);
        }
        let records: Vec<(u64, EventRecord)> = (1..).zip(records).collect();
        let origin = Origin { session_id: "s", project: "" };
        let entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
        let table = Built::of("s", &records).into_table().unwrap();
        prop_assert_eq!(table.len(), entries.len());
        table.rows().zip(&entries).for_each(|(row, entry)| agrees(row, entry));
    }
}
