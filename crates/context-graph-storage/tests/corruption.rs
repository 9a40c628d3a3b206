//! Damaged values, indexes and files of the store: found, reported once, never a panic, and nothing else lost.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Dice, Place, dump, record, snapshot, work, worker};
use context_graph_storage::seal::{Seal, TAG_BYTES};
use context_graph_storage::store::{DATABASE, Why};
use context_graph_storage::{FoldBatch, StorageError, Store, StoreOptions};
use rusqlite::Connection;

/// Three sessions; the tests damage the second.
fn filled(place: &Place) {
    let store = place.store();
    for (time, id) in ["one", "two", "three"].into_iter().enumerate() {
        let mut stored = snapshot(id, i64::try_from(time).unwrap());
        stored.previous_session_id = (id == "three").then(|| "two".into());
        let records = (0..5).map(|seq| record(Some(&format!("{id} {seq}")), b"some bytes")).collect();
        let batch = FoldBatch {
            state: Some(b"further state".to_vec()),
            records,
            project: Some("project".into()),
            ..FoldBatch::of(stored)
        };
        assert_eq!(store.commit_fold(&batch).unwrap(), 5);
    }
}

/// Runs something on the database without going through the store.
fn tamper<T>(place: &Place, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
    let connection = Connection::open(place.data().join(DATABASE)).unwrap();
    change(&connection).unwrap()
}

/// A value of the second session.
fn value(place: &Place, table: &str, column: &str) -> Vec<u8> {
    let asked = format!("SELECT {column} FROM {table} WHERE session = 2");
    tamper(place, |connection| connection.query_row(&asked, [], |row| row.get(0)))
}

/// Flips a bit in a value of the second session; returns the new value.
fn flip(place: &Place, table: &str, column: &str, byte: usize) -> Vec<u8> {
    let mut value = value(place, table, column);
    value[byte] ^= 0x20;
    let asked = format!("UPDATE {table} SET {column} = ? WHERE session = 2");
    tamper(place, |connection| connection.execute(&asked, [&value]));
    value
}

/// The error names a file that contains `bytes`.
#[track_caller]
fn assert_quarantined(error: StorageError, what: &str, bytes: &[u8]) {
    let StorageError::Corrupted { what: named, moved_to } = error else { panic!("{error}") };
    assert!(named.contains(what), "{named}");
    assert_eq!(fs::read(moved_to).unwrap(), bytes);
}

fn assert_sound(store: &Store) {
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
}

#[test]
fn a_flipped_byte_in_a_snapshot_is_reported_once_and_the_session_starts_afresh() {
    let place = Place::new();
    filled(&place);
    for byte in 0..value(&place, "states", "snapshot").len() {
        let damaged = flip(&place, "states", "snapshot", byte);
        let store = place.store();
        assert_quarantined(store.snapshot("two").unwrap_err(), "snapshot of session two", &damaged);
        assert_eq!(store.snapshot("two").unwrap(), None);
        assert_eq!(store.log("two", 0, 9).unwrap().len(), 5, "the log is not the snapshot");
        let batch = FoldBatch::of(snapshot("two", 1));
        let updated = store.update("two", &mut |stored| {
            assert_eq!(stored, None);
            Ok(batch.clone())
        });
        updated.unwrap();
        assert_sound(&store);
    }
}

#[test]
fn a_flipped_byte_in_a_state_is_reported_once() {
    let place = Place::new();
    filled(&place);
    for byte in 0..value(&place, "states", "state").len() {
        let damaged = flip(&place, "states", "state", byte);
        let store = place.store();
        assert_quarantined(store.state("two").unwrap_err(), "state of session two", &damaged);
        assert_eq!(store.state("two").unwrap(), None);
        assert!(store.snapshot("two").unwrap().is_some());
        let batch = FoldBatch { state: Some(b"further state".to_vec()), ..FoldBatch::of(snapshot("two", 1)) };
        store.commit_fold(&batch).unwrap();
    }
}

#[test]
fn a_flipped_byte_in_a_block_is_found_and_hides_no_other_session() {
    let place = Place::new();
    filled(&place);
    for byte in 0..value(&place, "blocks", "content").len() {
        flip(&place, "blocks", "content", byte);
        let store = place.store();
        assert_eq!((store.log("one", 0, 9).unwrap().len(), store.log("three", 0, 9).unwrap().len()), (5, 5));
        let report = store.verify_chains(&mut |_| {}).unwrap();
        assert_eq!(report.first_break.unwrap().session_id.as_deref(), Some("two"), "byte {byte}");
        assert_eq!(report.breaks, 1);
        drop(store);
        flip(&place, "blocks", "content", byte);
    }
    flip(&place, "blocks", "content", 0);
    let store = place.store();
    assert_eq!(store.log("two", 0, 9).unwrap()[0].bytes, None);
    assert_eq!(store.forget("two", 7, Why::Forgotten).unwrap().records, 5);
    assert_sound(&store);
}

#[test]
fn rows_that_are_missing_or_too_much_are_found() {
    let found = |change: &str| {
        let place = Place::new();
        filled(&place);
        tamper(&place, |connection| connection.execute_batch(change));
        let store = place.store();
        store.check().unwrap().problems + store.verify_chains(&mut |_| {}).unwrap().breaks
    };
    assert_eq!(found(""), 0);
    for change in [
        "DELETE FROM events WHERE session = 2 AND seq = 3",
        "DELETE FROM events WHERE session = 2",
        "INSERT INTO events (session, seq, at_ms, event, hook_us) VALUES (2, 9, 1, 'x', 1)",
        "INSERT INTO events (session, seq, at_ms, event, hook_us) VALUES (7, 1, 1, 'x', 1)",
        "DELETE FROM blocks WHERE session = 2",
        "DELETE FROM sessions WHERE number = 2",
        "DELETE FROM sessions WHERE number = 3",
        "UPDATE sessions SET number = 9 WHERE number = 3",
        "UPDATE sessions SET session_id = 'other' WHERE number = 2",
        "UPDATE sessions SET records = 4 WHERE number = 2",
        "UPDATE sessions SET chain = NULL WHERE number = 2",
        "UPDATE blocks SET session = 9 WHERE session = 2",
        "UPDATE blocks SET first_seq = 2 WHERE session = 2",
        "UPDATE meta SET value = '9' WHERE name = 'last_session'",
        "UPDATE meta SET value = '0' WHERE name = 'last_session'",
        "UPDATE meta SET value = 'word' WHERE name = 'last_session'",
        "DELETE FROM meta WHERE name = 'last_session'",
        "DELETE FROM states WHERE session = 2",
        "DELETE FROM states",
        "UPDATE states SET snapshot = NULL WHERE session = 2",
    ] {
        assert!(found(change) > 0, "{change}");
    }
}

#[test]
fn forgetting_leaves_no_row_that_names_the_session() {
    let place = Place::new();
    filled(&place);
    place.store().forget("two", 7, Why::Forgotten).unwrap();
    for file in fs::read_dir(place.data()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        // Its calls contain its name.
        assert!(!bytes.windows(4).any(|part| part == b"two "), "a call of it is in the file");
    }
    tamper(&place, |connection| {
        for table in ["calls", "events", "blocks", "states", "decisions", "files", "turns", "injections"] {
            let asked = format!("SELECT count(*) FROM {table} WHERE session = 2");
            assert_eq!(connection.query_row(&asked, [], |row| row.get::<_, i64>(0))?, 0, "{table}");
        }
        Ok(())
    });
}

#[test]
fn a_newer_snapshot_is_refused_and_left_alone() {
    let place = Place::new();
    filled(&place);
    let mut bytes = value(&place, "states", "snapshot").split_off(TAG_BYTES);
    bytes[4] = 2;
    let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[14..], 2);
    bytes[6..14].copy_from_slice(&sum.to_le_bytes());
    let tag = Seal::new([0; 32]).tag("stored snapshot", &[b"two", &bytes]);
    let bytes = [&tag[..], &bytes].concat();
    tamper(&place, |connection| {
        connection.execute("UPDATE states SET snapshot = ? WHERE session = 2", [&bytes])
    });
    for _ in 0..2 {
        let error = place.store().snapshot("two").unwrap_err();
        assert!(matches!(error, StorageError::TooNew { found: 2, supported: 1, .. }), "{error}");
        assert!(error.to_string().ends_with("update context-graph"), "{error}");
    }
}

/// Opens a store whose file is `bytes` and reads everything: it is valid and unchanged, or it was moved away
/// and reported, and the next store is empty.
fn open_damaged(place: &Place, bytes: &[u8], expected: &str) -> bool {
    let file = place.data().join(DATABASE);
    fs::write(&file, bytes).unwrap();
    let _ = fs::remove_dir_all(place.quarantine());
    let error = match read_all(&place.data(), expected) {
        Ok(()) => return true,
        Err(error) => error,
    };
    let StorageError::Corrupted { what, moved_to } = error else { panic!("{error}") };
    assert!(what.contains("store"), "{what}");
    assert!(moved_to.file_name().unwrap().to_str().unwrap().starts_with("store-77"));
    assert_eq!(fs::read(moved_to.join(DATABASE)).unwrap(), bytes);
    let store = place.store();
    assert_eq!(store.stats().unwrap().sessions, 0);
    store.commit_fold(&FoldBatch::of(snapshot("new", 1))).unwrap();
    false
}

/// The store contains what is expected, or an error says why not.
fn read_all(data: &Path, expected: &str) -> Result<(), StorageError> {
    let store = Store::open(&StoreOptions::new(data, 77))?;
    let report = store.check()?;
    if report.problems > 0 || store.verify_chains(&mut |_| {})?.breaks > 0 {
        let what = format!("store: {:?}", report.first_problem);
        drop(store);
        let moved_to = data.parent().unwrap().join("quarantine/store-77");
        fs::create_dir_all(&moved_to).unwrap();
        fs::rename(data.join(DATABASE), moved_to.join(DATABASE)).unwrap();
        return Err(StorageError::Corrupted { what, moved_to });
    }
    assert_eq!(dump(&store), expected);
    Ok(())
}

#[test]
fn a_truncated_file_is_set_aside_and_never_kills() {
    let place = Place::new();
    filled(&place);
    let expected = dump(&place.store());
    let whole = fs::read(place.data().join(DATABASE)).unwrap();
    let mut cuts: Vec<_> = (1..whole.len()).step_by(11_111).collect();
    cuts.extend((1..whole.len() / 4096).flat_map(|page| [page * 4096 - 1, page * 4096]));
    for cut in cuts {
        assert!(!open_damaged(&place, &whole[..cut], &expected), "cut at {cut}");
    }
    let garbage = [b"garbage".to_vec(), vec![0xFF; 8192]];
    assert!(!garbage.iter().any(|bytes| open_damaged(&place, bytes, "")));
    assert!(open_damaged(&place, b"", ""), "an empty file is a store that was never begun");
}

#[test]
fn a_store_of_an_unreleased_build_is_refused_in_one_sentence() {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    fs::write(place.data().join("data.mdb"), "old").unwrap();
    let error = Store::open(&StoreOptions::new(place.data(), 0)).unwrap_err();
    assert!(error.to_string().ends_with("remove the file; a new store will be made"), "{error}");
    assert!(error.can_wait(), "hooks go on with journals");
}

/// Not a test itself: opens stores with damaged pages, in a process that must not crash.
#[test]
fn reader() {
    let Some(work) = work() else { return };
    for number in 0..work.len() - 1 {
        let folder = Path::new(&work[0]).join(number.to_string());
        let store = match Store::open(&StoreOptions::new(folder.join("data"), 0)) {
            Ok(store) => store,
            Err(error) => {
                println!("found when opened: {error}");
                continue;
            }
        };
        let checked =
            store.check().and_then(|report| Ok(report.problems + store.verify_chains(&mut |_| {})?.breaks));
        match checked {
            Ok(0) => {}
            found => {
                println!("found by checking: {found:?}");
                continue;
            }
        }
        for id in ["two", "three"] {
            let read = (store.snapshot(id), store.state(id), store.log(id, 0, usize::MAX));
            if let (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) = read {
                println!("found by reading: {error}");
            }
        }
        println!("done");
    }
}

#[test]
fn no_flipped_byte_of_the_file_brings_a_process_down() {
    let place = Place::new();
    filled(&place);
    let store = place.store();
    // Some history, so that there are free pages and values on pages of their own.
    let big = FoldBatch { state: Some(vec![5; 20_000]), ..FoldBatch::of(snapshot("two", 5)) };
    store.commit_fold(&big).unwrap();
    store.forget("one", 7, Why::Forgotten).unwrap();
    let records = (0..200).map(|number| record(Some(&format!("more {number}")), &[9; 90])).collect();
    store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot("three", 6)) }).unwrap();
    drop(store);
    let whole = fs::read(place.data().join(DATABASE)).unwrap();
    let mut dice = Dice(0xF11B);
    let (mut found, mut read) = (0, 0);
    for _ in 0..20 {
        let mut arguments = vec![place.folder.to_str().unwrap()];
        for number in 0..25 {
            let mut bytes = whole.clone();
            // Any page may be hit, but the structure at its start more often than its middle.
            let page = dice.below(bytes.len() / 4096) * 4096;
            let within = if dice.below(2) == 0 { dice.below(200) } else { dice.below(4096) };
            bytes[page + within] ^= 1 << dice.below(8);
            let folder = place.folder.join(number.to_string());
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("data")).unwrap();
            fs::write(folder.join("data").join(DATABASE), bytes).unwrap();
            arguments.push("x");
        }
        let output = worker("reader", &arguments).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}\n{text}{errors}", output.status);
        found += text.matches("found ").count();
        read += text.matches("done").count();
    }
    println!("{found} found, {read} read to the end");
    assert!(found > 50, "{found}");
}
