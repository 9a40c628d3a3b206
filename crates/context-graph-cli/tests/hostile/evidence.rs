//! A misbehaving agent removes its traces: `audit verify` notices.

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
        assert!(
            run.stdout.contains("CHANGED or are incomplete")
                || run.stderr.contains("changed or are incomplete"),
            "{run:?}"
        );
        assert!(run.stdout.contains(word) || run.stderr.contains(word), "{word}: {run:?}");
    }
}

/// One finished session, and one running session with a completed turn.
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
    // Noticed even if there is a new one in its place.
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
    // The user's own copy of the heads, if there is one.
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

/// All state is put back to an earlier moment of the same turn, as with `git stash` or a backup, and the
/// session continues.
#[test]
fn a_turn_that_was_put_back_to_an_earlier_moment_of_its_own_is_missed() {
    let place = worked_in();
    let kept = place.project().parent().unwrap().join("kept");
    hook(&place, &prompt("open", "more")).succeeded();
    copy(&state(&place), &kept);
    hook(&place, &bash("open", "echo the one that goes")).succeeded();
    assert_eq!(verify(&place).code, 0);
    for part in ["live", "data"] {
        fs::remove_dir_all(state(&place).join(part)).unwrap();
        copy(&kept.join(part), &state(&place).join(part));
    }
    is_missed(&place, "open");
    // Later events do not hide it, even if they are longer than what is gone.
    hook(&place, &bash("open", &format!("echo {}", "a longer one ".repeat(40)))).succeeded();
    hook(&place, &stop("open"));
    is_missed(&place, "restored to an older version");
    hook(&place, &end("open"));
    is_missed(&place, "restored to an older version");
    is_told_until_acknowledged(&place);
}

#[test]
fn live_files_that_were_removed_within_a_turn_are_missed_when_it_has_ended() {
    for events in [&[][..], &[stop("s"), prompt("s", "more")]] {
        let place = Place::new();
        open_session(&place, "s");
        for event in events {
            hook(&place, event).succeeded();
        }
        hook(&place, &bash("s", "echo the one that goes")).succeeded();
        for file in ["live/s.journal", "live/s.state"] {
            fs::remove_file(state(&place).join(file)).unwrap();
        }
        is_missed(&place, "journal");
        hook(&place, &bash("s", "ls")).succeeded();
        hook(&place, &stop("s"));
        is_missed(&place, "started again");
    }
}

/// Without an earlier copy: the journal is cut, and the file with its last position is removed or emptied.
#[test]
fn a_journal_that_was_cut_with_its_reached_position_is_missed() {
    for empties in [false, true] {
        let place = worked_in();
        let journal = state(&place).join("live/open.journal");
        let before = fs::metadata(&journal).unwrap().len();
        hook(&place, &bash("open", "echo the one that goes")).succeeded();
        fs::OpenOptions::new().write(true).open(&journal).unwrap().set_len(before).unwrap();
        let reached = private(&place).join("reached");
        let reached = reached.join(&names(&reached)[0]);
        if empties {
            fs::write(&reached, "").unwrap();
        } else {
            fs::remove_file(&reached).unwrap();
        }
        is_missed(&place, "how far its journal had come");
        hook(&place, &bash("open", "ls")).succeeded();
        hook(&place, &stop("open"));
        is_missed(&place, "how far its journal had come");
        hook(&place, &end("open"));
        is_missed(&place, "how far its journal had come");
        is_told_until_acknowledged(&place);
    }
}

#[test]
fn a_search_index_that_was_emptied_is_missed_until_it_is_made_anew() {
    let place = worked_in();
    hook(&place, &end("open")).succeeded();
    assert_eq!(place.run(&["maintain"]).code, 0);
    assert_eq!(verify(&place).code, 0);
    let database = rusqlite::Connection::open(state(&place).join("data/context-graph.db")).unwrap();
    database.execute("INSERT INTO words (words) VALUES ('delete-all')", []).unwrap();
    drop(database);
    is_missed(&place, "search index");
    assert_eq!(place.run(&["maintain", "--rebuild"]).code, 0);
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
    assert_eq!(place.run(&["maintain"]).code, 0);
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
}

#[test]
fn how_far_a_session_has_come_is_kept_no_longer_than_the_session_is_open() {
    let place = worked_in();
    let reached = private(&place).join("reached");
    assert_eq!(names(&reached).len(), 1, "{:?}", names(&reached));
    hook(&place, &end("open")).succeeded();
    assert!(names(&reached).is_empty(), "{:?}", names(&reached));
    open_session(&place, "again");
    assert_eq!(place.run(&["session", "forget", "again", "--yes"]).code, 0);
    assert!(names(&reached).is_empty(), "{:?}", names(&reached));
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

fn private(place: &Place) -> std::path::PathBuf {
    place.home().join(".config/context-graph/private")
}

/// Doctor reports it too. Once the user has acknowledged it, neither reports it again.
#[track_caller]
fn is_told_until_acknowledged(place: &Place) {
    let run = place.run(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("--acknowledge"), "{run:?}");
    let run = place.run(&["audit", "verify", "--acknowledge"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(verify(place).code, 0, "{:?}", verify(place));
    // Later losses are noticed again.
    whole_session(place, "after");
    assert_eq!(verify(place).code, 0, "{:?}", verify(place));
    fs::remove_dir_all(state(place)).unwrap();
    is_missed(place, "after");
}

#[test]
fn the_whole_folder_is_missed() {
    let place = worked_in();
    fs::remove_dir_all(state(&place)).unwrap();
    let run = place.run(&["doctor"]);
    assert!(run.stdout.contains("was removed, with all its data"), "{run:?}");
    is_missed(&place, "removed");
    // Noticed even after hooks have created a new one.
    let place = worked_in();
    fs::remove_dir_all(state(&place)).unwrap();
    hook(&place, &start("next")).succeeded();
    is_missed(&place, "removed");
    is_told_until_acknowledged(&place);
}

#[test]
fn a_mark_that_a_pull_replaces_is_put_back_and_nothing_is_lost() {
    for theirs in [Some("x"), Some(""), None] {
        let place = worked_in();
        let mark = state(&place).join("mark");
        fs::remove_file(&mark).unwrap();
        if let Some(theirs) = theirs {
            fs::write(&mark, theirs).unwrap();
        }
        let run = verify(&place);
        assert!(run.code == 0 && run.stdout.contains("2 sessions"), "{theirs:?} {run:?}");
        assert!(!names(&state(&place)).iter().any(|name| name.starts_with("aside-")));
        hook(&place, &prompt("open", "and on")).succeeded();
        let list = place.run(&["session", "list"]);
        assert!(list.stdout.contains("over") && list.stdout.contains("open"), "{list:?}");
    }
}

#[test]
fn the_secret_is_missed() {
    let place = worked_in();
    fs::remove_file(private(&place).join("secret")).unwrap();
    is_missed(&place, "secret");
    let run = place.run(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("secret"), "{run:?}");
    // Acknowledged, and then the rest is removed.
    place.run(&["audit", "verify", "--acknowledge"]);
    is_missed(&place, "remove it once you know");
    fs::remove_dir_all(aside(&place)).unwrap();
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
}

#[test]
fn all_of_ones_own_folder_is_missed_as_long_as_the_state_is_there() {
    let place = worked_in();
    fs::remove_dir_all(private(&place)).unwrap();
    is_missed(&place, "secret");
}

#[test]
fn a_copy_of_the_heads_that_was_emptied_is_missed_although_it_grows_again() {
    let place = Place::new();
    let file = place.home().join("heads.jsonl");
    place.trusted_file("config.toml", "[audit]\nheads_file = \"~/heads.jsonl\"\n");
    whole_session(&place, "first");
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
    fs::write(&file, "").unwrap();
    is_missed(&place, "empty");
    whole_session(&place, "second");
    is_missed(&place, "first");
    fs::remove_file(&file).unwrap();
    whole_session(&place, "third");
    is_missed(&place, "its head is missing from");
    let run = place.run(&["audit", "verify", "--acknowledge"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
}

#[test]
fn heads_that_were_changed_are_begun_anew_once_that_is_known() {
    let place = worked_in();
    let heads = private(&place).join("heads");
    fs::write(heads.join(&names(&heads)[0]), "").unwrap();
    is_missed(&place, "empty");
    is_told_until_acknowledged(&place);
}

#[test]
fn what_the_user_purges_is_not_missed() {
    let place = worked_in();
    let run = place.run(&["uninstall", "--purge", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!place.run(&["doctor"]).stdout.contains("is gone"));
    hook(&place, &start("anew")).succeeded();
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
}

#[test]
fn a_project_that_was_moved_is_missed_where_it_is_and_not_where_it_was() {
    let place = worked_in();
    let moved = place.project().with_file_name("moved");
    fs::rename(place.project(), &moved).unwrap();
    let at = |args: &[&str], input: &str| {
        let mut command = place.command(args);
        command.env("CLAUDE_PROJECT_DIR", &moved).current_dir(&moved);
        crate::common::send(command, input.as_bytes())
    };
    assert_eq!(at(&["audit", "verify"], "").code, 0);
    assert_eq!(at(&["maintain"], "").code, 0);
    fs::create_dir(place.project()).unwrap();
    hook(&place, &start("another")).succeeded();
    assert_eq!(verify(&place).code, 0, "{:?}", verify(&place));
    fs::remove_dir_all(moved.join(".context-graph")).unwrap();
    let run = at(&["audit", "verify"], "");
    assert!(run.code != 0 && run.stderr.contains("changed or are incomplete"), "{run:?}");
}

#[test]
fn an_agent_cannot_acknowledge() {
    let place = worked_in();
    let run = hook(&place, &bash("open", "context-graph audit verify --acknowledge"));
    assert_eq!(run.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{run:?}");
}
