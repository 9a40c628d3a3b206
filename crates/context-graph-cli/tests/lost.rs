//! Events lost from a journal are reported once, by a hook whose exit code blocks nothing, and the loss stays on
//! record.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::{Place, Run};
use serde_json::{Value, json};

fn event(name: &str, session: &str, more: Value) -> String {
    let mut event =
        json!({"hook_event_name": name, "session_id": session, "transcript_path": "/t", "cwd": "/w"});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event.to_string()
}

fn hook(place: &Place, event: &str) -> Run {
    place.send(&["hooks", "event"], event)
}

fn start(place: &Place, session: &str) -> Run {
    hook(place, &event("SessionStart", session, json!({"source": "startup"})))
}

fn prompt(place: &Place, text: &str) -> Run {
    hook(place, &event("UserPromptSubmit", "s", json!({"prompt": text})))
}

fn asked(place: &Place, id: &str) -> Run {
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/w/a"}, "tool_use_id": id});
    hook(place, &event("PreToolUse", "s", call))
}

fn done(place: &Place, id: &str) -> Run {
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": "/w/a"}, "tool_use_id": id,
        "tool_response": {"ok": true}});
    hook(place, &event("PostToolUse", "s", call))
}

fn stop(place: &Place) -> Run {
    hook(place, &event("Stop", "s", json!({"stop_hook_active": false})))
}

fn end(place: &Place) -> Run {
    hook(place, &event("SessionEnd", "s", json!({"reason": "other"})))
}

fn journal(place: &Place) -> PathBuf {
    place.project().join(".context-graph/live/s.journal")
}

fn quarantine(place: &Place) -> PathBuf {
    place.project().join(".context-graph/quarantine")
}

fn pieces(place: &Place) -> Vec<PathBuf> {
    let found = std::fs::read_dir(quarantine(place)).into_iter().flatten();
    found.map(|entry| entry.unwrap().path()).collect()
}

/// The losses that `audit verify` reports; it must fail because of them.
fn named(place: &Place) -> Vec<Value> {
    let run = place.run(&["audit", "verify", "--json"]);
    assert_eq!(run.code, 2, "{run:?}");
    let told: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap_or_else(|_| {
        serde_json::Deserializer::from_str(&run.stdout).into_iter::<Value>().next().unwrap().unwrap()
    });
    assert_eq!(told["holds"], false, "{told}");
    told["losses"].as_array().unwrap().clone()
}

fn is_corruption(run: &Run) {
    assert_eq!((run.code, &run.json()["error_code"]), (2, &json!("corruption")), "{run:?}");
}

/// A start and four prompts, and the size of the journal after the second.
fn four_prompts() -> (Place, u64) {
    let place = Place::new();
    start(&place, "s").succeeded();
    let mut size = 0;
    for text in ["one", "two", "three", "four"] {
        prompt(&place, text).succeeded();
        if text == "two" {
            size = std::fs::metadata(journal(&place)).unwrap().len();
        }
    }
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    (place, size)
}

fn cut(place: &Place, size: u64) {
    std::fs::OpenOptions::new().write(true).open(journal(place)).unwrap().set_len(size).unwrap();
}

#[test]
fn a_journal_that_was_cut_off_at_an_entry_is_missed() {
    let (place, size) = four_prompts();
    cut(&place, size);
    // Reported even before the next event.
    assert_eq!(named(&place)[0]["lost"], 2);
    is_corruption(&done(&place, "t"));
    done(&place, "u").succeeded();
    for _ in 0..2 {
        let losses = named(&place);
        assert_eq!((losses.len(), &losses[0]["lost"], &losses[0]["at_least"]), (1, &json!(2), &json!(false)));
        assert_eq!(losses[0]["session_id"], "s");
    }
    let left = pieces(&place);
    let has = |text: &str| {
        left.iter().any(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains(text))
    };
    assert!(has("\"prompt\":\"two\"") && has("four"), "the journal, and the cache that knew more: {left:?}");
    end(&place).succeeded();
    start(&place, "t").succeeded();
    let losses = named(&place);
    assert_eq!(losses.len(), 1, "{losses:?}");
    let log = place.run(&["audit", "log", "--event", "EventsLost"]).stdout;
    assert!(log.contains("2 events lost: its journal was cut off"), "{log}");
    let status = place.run(&["session", "status", "s", "--json"]).json();
    assert_eq!(status["counters"]["prompts"], 2, "what is on record counts: {status}");
}

#[test]
fn a_journal_that_was_emptied_or_removed_is_missed() {
    for removed in [true, false] {
        let (place, _) = four_prompts();
        if removed {
            std::fs::remove_file(journal(&place)).unwrap();
        } else {
            cut(&place, 0);
        }
        let losses = named(&place);
        assert_eq!((losses.len(), &losses[0]["lost"]), (1, &json!(5)), "{losses:?}");
        is_corruption(&done(&place, "t"));
        stop(&place).succeeded();
        end(&place).succeeded();
        let losses = named(&place);
        assert_eq!((losses.len(), &losses[0]["lost"]), (1, &json!(5)), "{losses:?}");
        assert!(!pieces(&place).is_empty());
    }
}

#[test]
fn what_was_stored_before_is_not_missed() {
    let place = Place::new();
    start(&place, "s").succeeded();
    prompt(&place, "one").succeeded();
    stop(&place).succeeded();
    // Everything in the journal is already in the store.
    std::fs::remove_file(journal(&place)).unwrap();
    prompt(&place, "two").succeeded();
    done(&place, "t").succeeded();
    std::fs::remove_file(journal(&place)).unwrap();
    is_corruption(&done(&place, "u"));
    let losses = named(&place);
    assert_eq!((losses.len(), &losses[0]["lost"]), (1, &json!(2)), "{losses:?}");
}

#[test]
fn a_loss_is_told_where_it_stops_nobody() {
    let (place, size) = four_prompts();
    cut(&place, size);
    // If a hook exits with 2, the client drops the prompt, or a turn does not end.
    let told = prompt(&place, "five").succeeded();
    assert!(told["notices"].to_string().contains("2 events lost"), "{told}");
    stop(&place).succeeded();
    asked(&place, "t").succeeded();
    is_corruption(&done(&place, "t"));
    done(&place, "u").succeeded();
    end(&place).succeeded();
    start(&place, "t").succeeded();
    assert_eq!(named(&place).len(), 1);
}

#[test]
fn a_loss_is_named_until_the_user_knows_of_it() {
    let (place, size) = four_prompts();
    cut(&place, size);
    is_corruption(&end(&place));
    std::fs::remove_dir_all(quarantine(&place)).unwrap();
    assert_eq!(named(&place).len(), 1, "the bytes are gone, the loss is not");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.stdout.contains("2 events lost"), "{doctor:?}");
    // A hook event cannot acknowledge it.
    let forged = hook(&place, &event("LossAcknowledged", "s", json!({})));
    assert!(forged.failed("validation").contains("hook_event_name"), "{forged:?}");
    let run = place.run(&["audit", "verify", "--acknowledge"]);
    assert_eq!(run.code, 0, "{run:?}");
    for _ in 0..2 {
        let run = place.run(&["audit", "verify"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("known loss: session s: 2 events lost"), "{run:?}");
    }
    assert!(!place.run(&["doctor"]).stdout.contains("events lost"));
    let log = place.run(&["audit", "log", "--event", "LossAcknowledged"]).stdout;
    assert!(log.contains("LossAcknowledged"), "{log}");
    assert_eq!(place.run(&["session", "status", "s", "--json"]).json()["end_reason"], "other");
    assert!(!journal(&place).exists(), "a session that has ended stays so");
}

#[test]
fn a_loss_that_no_event_has_met_can_be_acknowledged_too() {
    for removed in [true, false] {
        let (place, size) = four_prompts();
        if removed {
            std::fs::remove_file(journal(&place)).unwrap();
        } else {
            cut(&place, size);
        }
        let run = place.run(&["audit", "verify", "--acknowledge"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("known loss"), "{run:?}");
        // An acknowledged loss is not reported again.
        done(&place, "t").succeeded();
        end(&place).succeeded();
        assert_eq!(place.run(&["audit", "verify"]).code, 0);
    }
    for with_cache in [true, false] {
        let place = Place::new();
        start(&place, "s").succeeded();
        for text in ["one", "the middle", "three"] {
            prompt(&place, text).succeeded();
        }
        change_the_middle(&place);
        if !with_cache {
            std::fs::remove_file(journal(&place).with_extension("state")).unwrap();
        }
        for arguments in [&["audit", "verify", "--acknowledge"][..], &["audit", "verify"]] {
            let run = place.run(arguments);
            assert_eq!(run.code, 0, "{run:?}");
            assert!(run.stdout.contains("known loss: session s: at least 1 event lost"), "{run:?}");
        }
        done(&place, "t").succeeded();
    }
}

#[test]
fn a_loss_that_was_noticed_and_acknowledged_is_not_told_again_and_a_new_one_is() {
    let (place, size) = four_prompts();
    cut(&place, size);
    let told = prompt(&place, "five").succeeded();
    assert!(told["notices"].to_string().contains("2 events lost"), "{told}");
    // The loss of another session is not reported yet either.
    let untold = place.project().join(".context-graph/live/untold");
    let both = std::fs::read_to_string(&untold).unwrap() + "session other: 1 event lost\n";
    std::fs::write(&untold, both).unwrap();
    assert_eq!(place.run(&["audit", "verify", "--acknowledge"]).code, 0);
    let run = done(&place, "t");
    is_corruption(&run);
    let error = run.json()["error"].to_string();
    assert!(error.contains("session other") && !error.contains("session s:"), "{error}");
    done(&place, "u").succeeded();
    std::fs::remove_file(journal(&place)).unwrap();
    is_corruption(&done(&place, "v"));
}

#[test]
fn it_is_said_how_many_were_lost_where_the_cache_knows() {
    for with_cache in [true, false] {
        let place = Place::new();
        start(&place, "s").succeeded();
        for text in ["one", "two", "three", "four", "five"] {
            prompt(&place, text).succeeded();
        }
        let size = std::fs::metadata(journal(&place)).unwrap().len();
        std::fs::write(journal(&place), vec![0; usize::try_from(size).unwrap()]).unwrap();
        if !with_cache {
            std::fs::remove_file(journal(&place).with_extension("state")).unwrap();
        }
        // The hook before a call finds it first, and continues.
        asked(&place, "t").succeeded();
        is_corruption(&end(&place));
        let losses = named(&place);
        let expected = if with_cache { (json!(6), json!(false)) } else { (json!(1), json!(true)) };
        assert_eq!((losses.len(), &losses[0]["lost"]), (1, &expected.0), "{losses:?}");
        assert_eq!(losses[0]["at_least"], expected.1, "{losses:?}");
    }
}

#[test]
fn a_changed_entry_that_only_the_fold_reads_is_on_record_too() {
    let place = Place::new();
    start(&place, "s").succeeded();
    for text in ["one", "the middle", "three"] {
        prompt(&place, text).succeeded();
    }
    change_the_middle(&place);
    is_corruption(&end(&place));
    start(&place, "t").succeeded();
    std::fs::remove_dir_all(quarantine(&place)).unwrap();
    let losses = named(&place);
    assert_eq!((losses.len(), &losses[0]["lost"], &losses[0]["at_least"]), (1, &json!(1), &json!(true)));
}

fn change_the_middle(place: &Place) {
    let mut bytes = std::fs::read(journal(place)).unwrap();
    let at = bytes.windows(10).position(|window| window == b"the middle").unwrap();
    bytes[at] ^= 1;
    std::fs::write(journal(place), bytes).unwrap();
}

/// Three prompts in an open session, with a changed byte in the second.
fn with_a_changed_entry() -> Place {
    let place = Place::new();
    start(&place, "s").succeeded();
    for text in ["one", "the middle", "three"] {
        prompt(&place, text).succeeded();
    }
    change_the_middle(&place);
    // The cache still has it; without the cache, everything comes from the journal.
    std::fs::remove_file(journal(&place).with_extension("state")).unwrap();
    place
}

#[test]
fn a_lost_event_is_told_once_where_that_stops_nobody_and_verify_goes_on_naming_it() {
    let place = with_a_changed_entry();
    let run = prompt(&place, "four");
    assert!(run.succeeded()["notices"].to_string().contains("damaged entry"), "{run:?}");
    let run = end(&place);
    is_corruption(&run);
    assert!(run.json()["error"].as_str().unwrap().contains("quarantine"), "{run:?}");
    start(&place, "t").succeeded();
    let saved = pieces(&place);
    assert_eq!(saved.len(), 1);
    assert!(String::from_utf8_lossy(&std::fs::read(&saved[0]).unwrap()).contains("he middle"));
    for _ in 0..2 {
        let run = place.run(&["audit", "verify"]);
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("CHANGED or are incomplete: session s"), "{run:?}");
    }
}

#[test]
fn a_lost_event_that_the_result_of_a_call_meets_is_told_there() {
    let place = with_a_changed_entry();
    is_corruption(&done(&place, "t"));
    // Reported even after somebody has removed the damaged bytes.
    std::fs::remove_dir_all(quarantine(&place)).unwrap();
    done(&place, "u").succeeded();
    end(&place).succeeded();
    assert_eq!(named(&place).len(), 1);
}

#[test]
fn a_changed_byte_in_the_journal_of_an_open_session_is_found_by_verify() {
    let whole = Place::new();
    start(&whole, "s").succeeded();
    for text in ["one", "two"] {
        prompt(&whole, text).succeeded();
    }
    assert_eq!(whole.run(&["audit", "verify"]).code, 0);
    let bytes = std::fs::read(journal(&whole)).unwrap();
    for at in [bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x11;
        std::fs::write(journal(&whole), changed).unwrap();
        let run = whole.run(&["audit", "verify"]);
        assert_ne!(run.code, 0, "byte {at}: {run:?}");
        assert!(run.stdout.contains("journal was damaged"), "byte {at}: {run:?}");
        std::fs::remove_dir_all(quarantine(&whole)).unwrap();
        std::fs::write(journal(&whole), &bytes).unwrap();
    }
}

#[test]
fn a_changed_header_is_named_until_the_user_knows_of_it() {
    // Offsets in the magic bytes, the length, the generation, the predecessor, the session's id and the checksum.
    for at in [0, 5, 9, 30, 50, 55] {
        let place = Place::new();
        start(&place, "s").succeeded();
        prompt(&place, "one").succeeded();
        let mut bytes = std::fs::read(journal(&place)).unwrap();
        bytes[at] ^= 0x11;
        std::fs::write(journal(&place), bytes).unwrap();
        for _ in 0..2 {
            let losses = named(&place);
            let how = losses[0].to_string();
            assert!(losses.len() == 1 && how.contains("the header of s.journal was changed"), "{at}: {how}");
        }
        // Nothing else is lost, and the next hook reports it once.
        is_corruption(&done(&place, "t"));
        done(&place, "u").succeeded();
        assert_eq!(place.run(&["session", "status", "s", "--json"]).json()["counters"]["prompts"], 1);
        let run = place.run(&["audit", "verify", "--acknowledge"]);
        assert!(run.code == 0 && run.stdout.contains("known loss: session s"), "{at}: {run:?}");
        assert_eq!(place.run(&["audit", "verify"]).code, 0);
    }
}

#[test]
fn a_changed_header_that_a_hook_repairs_is_on_record() {
    let place = Place::new();
    start(&place, "s").succeeded();
    let mut bytes = std::fs::read(journal(&place)).unwrap();
    bytes[9] ^= 0x11;
    std::fs::write(journal(&place), bytes).unwrap();
    asked(&place, "t").succeeded();
    is_corruption(&done(&place, "t"));
    std::fs::remove_dir_all(quarantine(&place)).unwrap();
    assert_eq!(named(&place).len(), 1);
    end(&place).succeeded();
    assert_eq!(named(&place)[0]["lost"], 0);
}

#[test]
fn what_a_reader_has_repaired_is_named_and_can_be_acknowledged() {
    for has_ended in [false, true] {
        let (place, _) = four_prompts();
        // A changed header, then a changed last entry. After the repair, neither can be found in the journal
        // again.
        for from_end in [false, true] {
            let mut bytes = std::fs::read(journal(&place)).unwrap();
            let at = if from_end { bytes.len() - 1 } else { 9 };
            bytes[at] ^= 0x11;
            std::fs::write(journal(&place), bytes).unwrap();
            place.run(&["session", "list"]);
        }
        if has_ended {
            end(&place);
            end(&place);
        }
        assert!(pieces(&place).len() >= 2);
        let run = place.run(&["audit", "verify"]);
        assert_eq!(run.code, 2, "{run:?}");
        let run = place.run(&["audit", "verify", "--acknowledge"]);
        assert_eq!(run.code, 0, "{run:?}");
        let run = place.run(&["audit", "verify"]);
        assert!(run.code == 0 && run.stdout.contains("known loss: session s"), "{run:?}");
    }
}
