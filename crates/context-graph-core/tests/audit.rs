//! Calls built from records: each once, with the right outcome, whatever events lie between.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use context_graph_core::audit::{Call, Entry, Evidence, Outcome, SessionRef, correlate};
use context_graph_core::session::{EventRecord, Ruling};
use proptest::prelude::*;
use serde_json::{Value, json};

const SESSION: SessionRef<'_> = SessionRef { session_id: "s", project: "/p" };

fn record(name: &str, at_ms: i64, own: Value) -> EventRecord {
    let mut payload = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/w",
        "prompt_id": "p1", "permission_mode": "default"});
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    let tool_use_id = payload["tool_use_id"].as_str().map(str::to_owned);
    EventRecord {
        at_ms,
        tool_use_id,
        payload: payload.to_string(),
        took_us: 900,
        link: None,
        ruling: None,
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    }
}

fn bash(name: &str, at_ms: i64, id: &str, command: &str) -> EventRecord {
    let mut own = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    match name {
        "PermissionRequest" => {}
        _ => own["tool_use_id"] = json!(id),
    }
    match name {
        "PostToolUse" => {
            own["tool_response"] = json!({"stdout": "out", "stderr": "", "interrupted": false});
            own["duration_ms"] = json!(12);
        }
        "PostToolUseFailure" => {
            own["error"] = json!("Exit code 1");
            own["is_interrupt"] = json!(false);
            own["duration_ms"] = json!(7);
        }
        "PermissionDenied" => own["reason"] = json!("Classifier unavailable"),
        _ => {}
    }
    record(name, at_ms, own)
}

fn ruled(mut record: EventRecord, verdict: &str) -> EventRecord {
    record.ruling =
        Some(Ruling { verdict: verdict.into(), rules: vec!["guard/rm".into()], reason: "no".into() });
    record
}

fn tell(records: &[EventRecord]) -> Vec<Entry> {
    correlate(SESSION, (1..).zip(records))
}

fn calls(entries: &[Entry]) -> Vec<&Call> {
    entries
        .iter()
        .filter_map(|entry| if let Entry::Call(call) = entry { Some(call.as_ref()) } else { None })
        .collect()
}

/// The outcome of the only call there is.
fn outcome(records: &[EventRecord]) -> (Outcome, Evidence) {
    let entries = tell(records);
    let calls = calls(&entries);
    assert_eq!(calls.len(), 1, "{calls:#?}");
    (calls[0].outcome, calls[0].evidence)
}

#[test]
fn a_call_is_told_from_the_asking_to_the_answer() {
    let records = [
        ruled(bash("PreToolUse", 1000, "a", "rm x"), "ask"),
        bash("PermissionRequest", 1010, "", "rm x"),
        bash("PostToolUse", 1500, "a", "rm -i x"),
    ];
    let entries = tell(&records);
    let [Entry::Call(call)] = entries.as_slice() else { panic!("{entries:#?}") };
    assert_eq!((call.tool_use_id.as_str(), call.tool.as_str(), call.subject.as_str()), ("a", "Bash", "rm x"));
    assert_eq!(call.asked, Some(json!({"command": "rm x"})));
    assert_eq!(call.executed, Some(json!({"command": "rm -i x"})));
    assert_eq!(call.ruling().map(|d| (d.verdict.as_str(), d.rules.len())), Some(("ask", 1)));
    assert_eq!((call.duration_ms, call.between_ms, call.permission_asked), (Some(12), Some(500), true));
    assert_eq!((call.prompt_id.as_deref(), call.permission_mode.as_deref()), (Some("p1"), Some("default")));
    assert_eq!((call.cwd.as_str(), call.project.as_str(), call.at_ms), ("/w", "/p", 1000));
    assert_eq!(call.records.iter().map(|part| part.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(call.agent.id, None, "the main thread");
}

#[test]
fn what_was_decided_about_a_result_is_shown_where_it_is_stricter() {
    let shown = |before: &str, after: &str| {
        let entries = tell(&[
            ruled(bash("PreToolUse", 1000, "a", "rm x"), before),
            ruled(bash("PostToolUse", 1500, "a", "rm x"), after),
        ]);
        let decided =
            calls(&entries)[0].strictest().map(|decided| (decided.event.clone(), decided.verdict.clone()));
        decided.unwrap()
    };
    assert_eq!(shown("ask", "block"), ("PostToolUse".into(), "block".into()));
    assert_eq!(shown("deny", "modify"), ("PreToolUse".into(), "deny".into()));
    assert_eq!(shown("allow", "allow").0, "PreToolUse");
}

#[test]
fn every_outcome_is_told_by_the_best_evidence_there_is() {
    let pre = || bash("PreToolUse", 1, "a", "x");
    let stop = || record("Stop", 9, json!({"stop_hook_active": false}));
    let prompt = || record("UserPromptSubmit", 9, json!({"prompt": "go on"}));
    let end = || record("SessionEnd", 9, json!({"reason": "other"}));
    let resume = || record("SessionStart", 10, json!({"source": "resume"}));
    let mut interrupted = bash("PostToolUseFailure", 5, "a", "x");
    interrupted.payload = interrupted.payload.replace("\"is_interrupt\":false", "\"is_interrupt\":true");
    let mut half = bash("PostToolUse", 5, "a", "x");
    half.payload = half.payload.replace("\"interrupted\":false", "\"interrupted\":true");
    let batch = |text: &str| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "a",
            "tool_response": text});
        record("PostToolBatch", 6, json!({"tool_calls": [call]}))
    };
    let cases = [
        (vec![pre(), bash("PostToolUse", 5, "a", "x")], Outcome::Success, Evidence::Result),
        (vec![pre(), bash("PostToolUseFailure", 5, "a", "x")], Outcome::Failure, Evidence::Result),
        (vec![pre(), interrupted], Outcome::Interrupted, Evidence::Result),
        (vec![pre(), half], Outcome::Interrupted, Evidence::Result),
        (vec![pre(), bash("PermissionDenied", 5, "a", "x")], Outcome::Denied, Evidence::Refusal),
        (vec![ruled(pre(), "deny"), stop()], Outcome::Denied, Evidence::Ruling),
        // What the client did counts more than what it was told to do.
        (vec![ruled(pre(), "deny"), bash("PostToolUse", 5, "a", "x")], Outcome::Success, Evidence::Result),
        (
            vec![pre(), ruled(bash("PermissionRequest", 2, "", "x"), "deny")],
            Outcome::Denied,
            Evidence::Ruling,
        ),
        (vec![pre(), batch("PreToolUse:Bash hook error: no")], Outcome::Denied, Evidence::Batch),
        (vec![ruled(pre(), "ask"), batch("any reason")], Outcome::Denied, Evidence::Batch),
        (vec![pre(), batch("<tool_use_error>Blocked: standalone sleep")], Outcome::Failure, Evidence::Batch),
        (vec![batch("<tool_use_error>Error: No such tool")], Outcome::Failure, Evidence::Batch),
        (vec![pre(), prompt()], Outcome::Interrupted, Evidence::BrokenOff),
        (vec![pre(), end()], Outcome::Interrupted, Evidence::BrokenOff),
        (vec![pre(), end(), resume(), pre()], Outcome::Deferred, Evidence::AskedAgain),
        (
            vec![pre(), end(), resume(), pre(), bash("PostToolUse", 15, "a", "x")],
            Outcome::Success,
            Evidence::Result,
        ),
        (vec![pre(), stop()], Outcome::Unanswered, Evidence::TurnOver),
        (vec![pre()], Outcome::Unanswered, Evidence::Open),
        // A hook that is registered twice asks twice; that is no deferral.
        (vec![pre(), pre()], Outcome::Unanswered, Evidence::Open),
        (vec![bash("PostToolUse", 5, "a", "x")], Outcome::Success, Evidence::Result),
    ];
    for (records, expected, evidence) in cases {
        let events: Vec<&str> = records.iter().map(|r| &r.payload[..]).collect();
        assert_eq!(outcome(&records), (expected, evidence), "{events:#?}");
    }
}

#[test]
fn a_subagents_turn_is_its_own() {
    let agent = |mut record: EventRecord| {
        record.payload = record.payload.replacen('{', "{\"agent_id\":\"g\",\"agent_type\":\"explore\",", 1);
        record
    };
    let stop = record(
        "SubagentStop",
        9,
        json!({"agent_id": "g", "agent_type": "explore", "stop_hook_active": false,
        "agent_transcript_path": "/t2"}),
    );
    let prompt = record("UserPromptSubmit", 5, json!({"prompt": "go on"}));
    let pre = agent(bash("PreToolUse", 1, "a", "x"));
    let entries = tell(&[pre.clone(), prompt.clone(), stop]);
    let call = calls(&entries)[0].clone();
    assert_eq!((call.outcome, call.evidence), (Outcome::Unanswered, Evidence::TurnOver));
    assert_eq!((call.agent.id.as_deref(), call.agent.kind.as_deref()), (Some("g"), Some("explore")));
    assert_eq!(outcome(&[pre, prompt]), (Outcome::Unanswered, Evidence::Open));
}

#[test]
fn a_deferred_call_is_one_call_and_is_timed_from_where_it_was_taken_up() {
    let records = [
        bash("PreToolUse", 1000, "a", "x"),
        record("SessionEnd", 1100, json!({"reason": "other"})),
        record("SessionStart", 9000, json!({"source": "resume"})),
        bash("PreToolUse", 9010, "a", "x"),
        bash("PostToolUse", 9050, "a", "x"),
    ];
    let entries = tell(&records);
    let call = calls(&entries)[0];
    assert_eq!((call.deferrals, call.between_ms, call.at_ms, call.records.len()), (1, Some(40), 1000, 3));
}

#[test]
fn what_comes_under_the_id_of_a_call_that_is_over_is_another_call() {
    let stop = |at_ms| record("Stop", at_ms, json!({"stop_hook_active": false}));
    let (ask, answer) =
        (|at_ms| bash("PreToolUse", at_ms, "a", "ls"), |at_ms| bash("PostToolUse", at_ms, "a", "ls"));
    let batch = |at_ms| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "a", "tool_response": "x"});
        record("PostToolBatch", at_ms, json!({"tool_calls": [call]}))
    };
    let seqs = |records: &[EventRecord]| {
        let entries = tell(records);
        let of = |call: &Call| (call.records.iter().map(|part| part.seq).collect::<Vec<_>>(), call.batch_seq);
        calls(&entries).into_iter().map(of).collect::<Vec<_>>()
    };
    // Before its answer, and in the same turn after it, the call is still open.
    assert_eq!(seqs(&[ask(1), answer(2), answer(3), ask(4)]), [(vec![1, 2, 3, 4], None)]);
    assert_eq!(seqs(&[ask(1), stop(2), ask(3), answer(4)]), [(vec![1, 3, 4], None)]);
    let twice = [ask(1), answer(2), batch(3), stop(4), ask(5), answer(6), batch(7), stop(8), answer(9)];
    assert_eq!(seqs(&twice), [(vec![1, 2], Some(3)), (vec![5, 6], Some(7)), (vec![9], None)]);
    // The batch of a background subagent may come after the turn ended.
    assert_eq!(seqs(&[ask(1), answer(2), stop(3), batch(4)]), [(vec![1, 2], Some(4))]);
}

#[test]
fn calls_without_an_id_are_matched_by_what_they_are() {
    let records = [
        bash("PreToolUse", 1, "", "one"),
        bash("PreToolUse", 2, "", "two"),
        bash("PostToolUse", 3, "", "two"),
        bash("PostToolUseFailure", 4, "", "one"),
        bash("PostToolUse", 5, "", "three"),
    ];
    let entries = tell(&records);
    let told: Vec<_> =
        calls(&entries).iter().map(|c| (c.subject.as_str(), c.outcome, c.between_ms)).collect();
    let expected = [
        ("one", Outcome::Failure, Some(3)),
        ("two", Outcome::Success, Some(1)),
        ("three", Outcome::Success, None),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_request_that_fits_no_call_stands_alone() {
    let entries = tell(&[bash("PreToolUse", 1, "a", "x"), bash("PermissionRequest", 2, "", "y")]);
    assert!(matches!(&entries[1], Entry::Event(event) if event.event == "PermissionRequest"));
    assert!(!calls(&entries)[0].permission_asked);
}

#[test]
fn a_record_that_cannot_be_read_is_shown_as_such() {
    let mut broken = bash("PreToolUse", 1, "a", "x");
    broken.payload.truncate(20);
    let entries = tell(&[broken]);
    assert!(matches!(&entries[0], Entry::Event(event) if event.event == "unreadable"));
}

/// The records of one call in order, by kind of call.
fn script(kind: u8, id: usize) -> Vec<EventRecord> {
    let (id, command) = (format!("call-{id}"), format!("command {id}"));
    let of = |name: &str| bash(name, 0, &id, &command);
    match kind {
        0 => vec![of("PreToolUse"), of("PostToolUse")],
        1 => vec![of("PreToolUse"), of("PostToolUseFailure")],
        2 => vec![ruled(of("PreToolUse"), "deny")],
        3 => vec![of("PreToolUse"), of("PermissionRequest"), of("PostToolUse")],
        4 => vec![of("PreToolUse"), of("PermissionDenied")],
        5 => vec![of("PreToolUse"), ruled(of("PermissionRequest"), "deny")],
        6 => vec![of("PostToolUse")],
        _ => vec![of("PreToolUse")],
    }
}

/// Merges the scripts as `choices` say; each keeps its own order.
fn interleave(kinds: &[u8], choices: &[usize]) -> Vec<EventRecord> {
    let mut scripts: Vec<Vec<EventRecord>> =
        kinds.iter().enumerate().map(|(id, kind)| script(*kind, id)).collect();
    for script in &mut scripts {
        script.reverse();
    }
    let mut merged = Vec::new();
    let mut choices = choices.iter().cycle();
    while scripts.iter().any(|script| !script.is_empty()) {
        let open: Vec<usize> = (0..scripts.len()).filter(|at| !scripts[*at].is_empty()).collect();
        let at = open[choices.next().unwrap() % open.len()];
        merged.push(scripts[at].pop().unwrap());
    }
    merged
}

/// The result for each call, without the position of its records.
fn told(records: &[EventRecord]) -> BTreeMap<String, (Outcome, Evidence, bool, usize, Option<Value>)> {
    let entries = tell(records);
    calls(&entries)
        .into_iter()
        .map(|call| {
            let told = (
                call.outcome,
                call.evidence,
                call.permission_asked,
                call.records.len(),
                call.executed.clone(),
            );
            (call.tool_use_id.clone(), told)
        })
        .collect()
}

proptest! {
    #[test]
    fn any_interleaving_of_parallel_calls_tells_the_same(
        kinds in prop::collection::vec(0u8..8, 1..12),
        choices in prop::collection::vec(0usize..1000, 1..40),
    ) {
        let one_after_the_other = interleave(&kinds, &[0]);
        let mixed = interleave(&kinds, &choices);
        prop_assert_eq!(told(&one_after_the_other), told(&mixed));
        prop_assert_eq!(told(&mixed).len(), kinds.len());
    }

    #[test]
    fn each_record_belongs_to_exactly_one_entry(
        kinds in prop::collection::vec(0u8..8, 1..12),
        choices in prop::collection::vec(0usize..1000, 1..40),
        others in prop::collection::vec((0usize..30, 0usize..5), 0..10),
    ) {
        let mut records = interleave(&kinds, &choices);
        for (at, which) in others {
            let other = [
                record("Stop", 0, json!({"stop_hook_active": false})),
                record("UserPromptSubmit", 0, json!({"prompt": "x"})),
                record("PostToolBatch", 0, json!({"tool_calls": [{"tool_name": "Bash", "tool_input": {}, "tool_use_id": "call-0"}]})),
                record("SomethingNew", 0, json!({})),
                record("SessionStart", 0, json!({"source": "resume"})),
            ];
            records.insert(at.min(records.len()), other[which].clone());
        }
        let entries = tell(&records);
        let mut seqs: Vec<u64> = entries.iter().flat_map(Entry::seqs).collect();
        seqs.sort_unstable();
        prop_assert_eq!(seqs, (1..=records.len() as u64).collect::<Vec<_>>());
        prop_assert!(entries.is_sorted_by_key(Entry::first_seq));
    }
}
