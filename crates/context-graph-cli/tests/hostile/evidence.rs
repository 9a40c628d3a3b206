//! An agent that went astray removes its traces: `audit verify` misses them.

use std::fs;

use crate::common::{Place, Run};
use crate::stage::*;

fn verify(place: &Place) -> Run {
    place.run(&["audit", "verify"])
}

#[track_caller]
fn is_missed(place: &Place, word: &str) {
    for _ in 0..2 {
        let run = verify(place);
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("DOES NOT hold") || run.stderr.contains("does not hold"), "{run:?}");
        assert!(run.stdout.contains(word) || run.stderr.contains(word), "{word}: {run:?}");
    }
}

/// One session that is over, and one at work with a turn behind it.
fn worked_in() -> Place {
    let place = Place::new();
    whole_session(&place, "over");
    open_session(&place, "open");
    hook(&place, &stop("open")).succeeded();
    hook(&place, &bash("open", "ls")).succeeded();
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
    place
}

#[test]
fn the_journal_of_an_open_session_is_missed() {
    let place = worked_in();
    fs::remove_file(state(&place).join("live/open.journal")).unwrap();
    is_missed(&place, "open");
    // Also when a new one stands in its place.
    hook(&place, &bash("open", "ls")).succeeded();
    is_missed(&place, "open");
}

#[test]
fn the_journal_of_a_session_in_its_first_turn_is_missed() {
    let place = Place::new();
    open_session(&place, "first");
    fs::remove_dir_all(state(&place).join("live")).unwrap();
    is_missed(&place, "first");
}

#[test]
fn the_database_is_missed() {
    let place = worked_in();
    fs::remove_dir_all(state(&place).join("data")).unwrap();
    is_missed(&place, "removed");
}

#[test]
fn a_database_that_was_rolled_back_is_missed() {
    let place = worked_in();
    let kept = place.project().parent().unwrap().join("kept");
    copy(&state(&place).join("data"), &kept);
    hook(&place, &prompt("open", "more")).succeeded();
    hook(&place, &stop("open")).succeeded();
    assert_eq!(verify(&place).code, 0);
    fs::remove_dir_all(state(&place).join("data")).unwrap();
    copy(&kept, &state(&place).join("data"));
    is_missed(&place, "open");
}

#[test]
fn heads_that_were_emptied_cut_or_removed_are_missed() {
    let place = worked_in();
    let heads = place.project().parent().unwrap().join("home/.config/context-graph/private/heads");
    let file = heads.join(&names(&heads)[0]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, "").unwrap();
    is_missed(&place, "empty");
    let second = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    fs::write(&file, second).unwrap();
    is_missed(&place, "line 1");
    fs::remove_file(&file).unwrap();
    is_missed(&place, "heads");
    fs::write(&file, text).unwrap();
    assert_eq!(verify(&place).code, 0);
    // The user's own copy of the heads, where one is wanted.
    let own = place.project().parent().unwrap().join("home/heads.jsonl");
    fs::write(&own, "").unwrap();
    let run = place.run(&["audit", "verify", "--heads", own.to_str().unwrap()]);
    assert!(run.code != 0 && run.stderr.contains("is empty"), "{run:?}");
}

#[test]
fn an_entry_that_was_taken_out_of_an_open_journal_is_missed() {
    let place = Place::new();
    open_session(&place, "s");
    let journal = state(&place).join("live/s.journal");
    let before = fs::read(&journal).unwrap().len();
    hook(&place, &prompt("s", "the one that goes")).succeeded();
    let behind = fs::read(&journal).unwrap().len();
    hook(&place, &prompt("s", "the last")).succeeded();
    let mut bytes = fs::read(&journal).unwrap();
    bytes.drain(before..behind);
    fs::write(&journal, bytes).unwrap();
    is_missed(&place, "journal");
}

#[test]
fn what_the_user_removes_is_not_missed() {
    let place = worked_in();
    for args in
        [&["session", "forget", "over", "--yes"][..], &["session", "forget", "open", "--yes"], &["maintain"]]
    {
        let run = place.run(args);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(verify(&place).code, 0, "{args:?} {:?}", verify(&place));
    }
}
