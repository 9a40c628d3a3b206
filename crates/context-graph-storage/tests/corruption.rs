//! Damaged values, indexes and files of the store: found, reported once, never a panic, and nothing else lost.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Dice, Place, dump, record, snapshot, work, worker};
use context_graph_storage::store::{SessionQuery, Why};
use context_graph_storage::{FoldBatch, LmdbOptions, LmdbStore, SessionStore, StorageError};
use heed::types::Bytes;
use heed::{Database, EnvOpenOptions};

/// Three sessions, the second one of which is damaged by the tests.
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

/// Changes a table of the store behind its back; the one without a name is the store's own.
fn tamper(place: &Place, table: &str, change: impl FnOnce(Database<Bytes, Bytes>, &mut heed::RwTxn<'_>)) {
    #[expect(unsafe_code, reason = "the test opens the database itself")]
    let env = unsafe { EnvOpenOptions::new().map_size(1 << 30).max_dbs(3).open(place.data()).unwrap() };
    let mut txn = env.write_txn().unwrap();
    let name = Some(table).filter(|name| !name.is_empty());
    let database = env.open_database(&txn, name).unwrap().unwrap();
    change(database, &mut txn);
    txn.commit().unwrap();
}

fn flip(place: &Place, table: &str, key: &[u8], byte: usize) -> Vec<u8> {
    let mut value = Vec::new();
    tamper(place, table, |database, txn| {
        value = database.get(txn, key).unwrap().unwrap().to_vec();
        value[byte] ^= 0x20;
        database.put(txn, key, &value).unwrap();
    });
    value
}

fn length(place: &Place, table: &str, key: &[u8]) -> usize {
    let mut length = 0;
    tamper(place, table, |database, txn| length = database.get(txn, key).unwrap().unwrap().len());
    length
}

fn log_key(ordinal: u64, seq: u64) -> Vec<u8> {
    [ordinal.to_be_bytes(), seq.to_be_bytes()].concat()
}

/// The error names a file that holds `bytes`.
#[track_caller]
fn assert_quarantined(error: StorageError, what: &str, bytes: &[u8]) {
    let StorageError::Corrupted { what: named, moved_to } = error else { panic!("{error}") };
    assert!(named.contains(what), "{named}");
    assert_eq!(fs::read(moved_to).unwrap(), bytes);
}

fn assert_sound(store: &LmdbStore) {
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
}

#[test]
fn a_flipped_byte_in_a_snapshot_is_reported_once_and_the_session_starts_afresh() {
    let place = Place::new();
    filled(&place);
    for byte in 0..length(&place, "sessions", b"session:two") {
        let damaged = flip(&place, "sessions", b"session:two", byte);
        let store = place.store();
        assert_eq!(store.check().unwrap().first_problem.unwrap().0, "session:two", "byte {byte}");
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
    for byte in 0..length(&place, "sessions", b"session:two:state") {
        let damaged = flip(&place, "sessions", b"session:two:state", byte);
        let store = place.store();
        assert_quarantined(store.state("two").unwrap_err(), "state of session two", &damaged);
        assert_eq!(store.state("two").unwrap(), None);
        assert!(store.snapshot("two").unwrap().is_some());
        let batch = FoldBatch { state: Some(b"further state".to_vec()), ..FoldBatch::of(snapshot("two", 1)) };
        store.commit_fold(&batch).unwrap();
    }
}

#[test]
fn a_lost_ledger_is_recovered_from_what_else_is_known() {
    let length = {
        let place = Place::new();
        filled(&place);
        length(&place, "sessions", b"session:two:fold")
    };
    for byte in 0..length {
        let place = Place::new();
        filled(&place);
        let damaged = flip(&place, "sessions", b"session:two:fold", byte);
        let store = place.store();
        assert_eq!(store.list_sessions(&SessionQuery::default()).unwrap().len(), 3);
        let refused = store.commit_fold(&FoldBatch::of(snapshot("two", 9))).unwrap_err();
        assert_quarantined(refused, "ledger of session two", &damaged);
        assert_eq!(store.session("two").unwrap().unwrap().last_seq, 5);
        let batch = FoldBatch { records: vec![record(None, b"more")], ..FoldBatch::of(snapshot("two", 9)) };
        assert_eq!(store.commit_fold(&batch).unwrap(), 6);
        assert_eq!(store.successors("two").unwrap(), ["three"]);
        assert_eq!(store.find_calls("two 3").unwrap().len(), 1);
        assert_sound(&store);
    }
}

#[test]
fn a_flipped_byte_in_a_block_is_found_and_hides_no_other_block() {
    let place = Place::new();
    filled(&place);
    let key = log_key(2, 1);
    for byte in 0..length(&place, "log", &key) {
        flip(&place, "log", &key, byte);
        let store = place.store();
        let whole =
            |id: &str| store.log(id, 0, 9).unwrap().iter().filter(|entry| entry.bytes.is_some()).count();
        assert_eq!((whole("one"), whole("two"), whole("three")), (5, 0, 5));
        let report = store.check().unwrap();
        assert_eq!(report.first_problem.unwrap().0, "record 1 of session number 2");
        let report = store.verify_chains(&mut |_| {}).unwrap();
        let found = report.first_break.unwrap();
        assert_eq!((report.breaks, found.session_id.as_deref(), found.seq), (1, Some("two"), Some(1)));
        assert_eq!(store.find_calls("two 2").unwrap()[0].bytes, None);
        drop(store);
        flip(&place, "log", &key, byte);
    }
    flip(&place, "log", &key, 0);
    let store = place.store();
    let removed = store.forget("two", 7, Why::Forgotten).unwrap();
    assert_eq!((removed.records, removed.index_entries), (5, 5 + 3));
    assert_sound(&store);
}

#[test]
fn what_is_missing_or_too_much_in_an_index_is_found() {
    let tampered = |table: &str, change: &dyn Fn(Database<Bytes, Bytes>, &mut heed::RwTxn<'_>)| {
        let place = Place::new();
        filled(&place);
        tamper(&place, table, |database, txn| change(database, txn));
        place.store().check().unwrap().problems
    };
    assert_eq!(tampered("sessions", &|_, _| {}), 0);
    for key in ["idx:time:00000000000000000001:two", "idx:prev:two:three"] {
        let removed = tampered("sessions", &|table, txn| assert!(table.delete(txn, key.as_bytes()).unwrap()));
        assert!(removed > 0, "{key}");
        let renamed = tampered("sessions", &|table, txn| table.put(txn, key.as_bytes(), b"other").unwrap());
        assert!(renamed > 0, "{key}");
    }
    assert!(tampered("sessions", &|table, txn| table.put(txn, b"idx:time:x", b"one").unwrap()) > 0);
    assert!(tampered("sessions", &|table, txn| table.put(txn, b"unknown", b"").unwrap()) > 0);
    assert!(tampered("", &|table, txn| table.put(txn, b"meta:counters", b"").unwrap()) > 0);
    assert!(tampered("", &|table, txn| table.put(txn, b"meta:format", b"").unwrap()) > 0);
    assert!(tampered("log", &|table, txn| assert!(table.delete(txn, &log_key(2, 0)).unwrap())) > 0);
    assert!(tampered("log", &|table, txn| table.put(txn, &log_key(2, 0), b"other").unwrap()) > 0);
    assert!(tampered("log", &|table, txn| table.put(txn, &log_key(9, 0), b"other").unwrap()) > 0);
    assert!(tampered("sessions", &|table, txn| assert!(table.delete(txn, b"session:two:fold").unwrap())) > 0);
    assert!(tampered("calls", &|table, txn| table.put(txn, &[1; 24], b"").unwrap()) > 0);
    assert!(tampered("calls", &|table, txn| table.clear(txn).unwrap()) > 0);
    assert!(tampered("log", &|table, txn| assert!(table.delete(txn, &log_key(2, 1)).unwrap())) > 0);
    assert!(tampered("log", &|table, txn| table.put(txn, b"short", b"").unwrap()) > 0);
}

#[test]
fn forgetting_leaves_no_key_that_names_the_session() {
    let place = Place::new();
    filled(&place);
    place.store().forget("two", 7, Why::Forgotten).unwrap();
    let mut keys = Vec::new();
    for table in ["sessions", "log", "calls"] {
        tamper(&place, table, |database, txn| {
            for entry in database.iter(txn).unwrap() {
                let (key, value) = entry.unwrap();
                keys.push((table, key.to_vec(), value.to_vec()));
            }
        });
    }
    let named = |bytes: &[u8]| bytes.windows(3).any(|part| part == b"two");
    for (table, key, value) in &keys {
        assert!(!named(key) && !named(value), "{table}: {}", key.escape_ascii());
        assert!(*table != "log" || !key.starts_with(&2_u64.to_be_bytes()));
        assert!(*table != "calls" || key[8..16] != 2_u64.to_be_bytes());
    }
    let rows = keys.iter().filter(|(table, ..)| *table == "log").count();
    assert_eq!(rows, 2 * (1 + 1) + 1, "two logs with their owners, and the tombstone");
}

#[test]
fn newer_formats_are_refused_and_left_alone() {
    let place = Place::new();
    filled(&place);
    let mut bytes = Vec::new();
    tamper(&place, "sessions", |database, txn| {
        bytes = database.get(txn, b"session:two").unwrap().unwrap().to_vec();
        bytes[4] = 2;
        let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[14..], 2);
        bytes[6..14].copy_from_slice(&sum.to_le_bytes());
        database.put(txn, b"session:two", &bytes).unwrap();
    });
    for _ in 0..2 {
        let error = place.store().snapshot("two").unwrap_err();
        assert!(matches!(error, StorageError::TooNew { found: 2, supported: 1, .. }), "{error}");
        assert!(error.to_string().ends_with("update context-graph"), "{error}");
    }
    tamper(&place, "", |database, txn| {
        let value = database.get(txn, b"meta:format").unwrap().unwrap().to_vec();
        let key_sum = xxhash_rust::xxh3::xxh3_64(b"meta:format");
        let newer = xxhash_rust::xxh3::xxh3_64_with_seed(&[3], key_sum).to_le_bytes();
        database.put(txn, b"meta:format", &[&newer[..], &[3]].concat()).unwrap();
        assert_eq!(value.len(), 9);
    });
    let error = LmdbStore::open(&LmdbOptions::new(place.data(), 0)).unwrap_err();
    assert!(matches!(error, StorageError::TooNew { found: 3, .. }), "{error}");
}

/// Opens a store whose data file is `bytes`: sound and unchanged, or moved away, reported, and fresh after that.
fn open_damaged(place: &Place, bytes: &[u8], expected: &str) -> bool {
    let data = place.data().join("data.mdb");
    fs::write(&data, bytes).unwrap();
    let _ = fs::remove_file(place.data().join("lock.mdb"));
    match LmdbStore::open(&LmdbOptions::new(place.data(), 77)) {
        Ok(store) => {
            assert_eq!(dump(&store), expected);
            true
        }
        Err(StorageError::Corrupted { what, moved_to }) => {
            assert!(what.contains("data.mdb"), "{what}");
            assert!(moved_to.file_name().unwrap().to_str().unwrap().starts_with("data-77"));
            assert_eq!(fs::read(moved_to.join("data.mdb")).unwrap(), bytes);
            let store = place.store();
            assert_eq!(store.stats().unwrap().sessions, 0);
            store.commit_fold(&FoldBatch::of(snapshot("new", 1))).unwrap();
            false
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_truncated_data_file_is_set_aside_and_never_kills() {
    let place = Place::new();
    filled(&place);
    let expected = dump(&place.store());
    let whole = fs::read(place.data().join("data.mdb")).unwrap();
    let mut cuts: Vec<_> = (1..whole.len()).step_by(1111).collect();
    cuts.extend((1..=whole.len() / 4096).flat_map(|page| [page * 4096 - 1, page * 4096]));
    for cut in cuts {
        let sound = open_damaged(&place, &whole[..cut], &expected);
        assert!(!sound || cut + 4096 * 3 > whole.len(), "cut at {cut}");
    }
    let garbage = [b"garbage".to_vec(), vec![0; 100_000], vec![0xFF; 8192]];
    assert!(!garbage.iter().any(|bytes| open_damaged(&place, bytes, "")));
    assert!(open_damaged(&place, b"", ""), "an empty file is a store that was never begun");
}

#[test]
fn a_file_that_ends_before_unused_pages_is_not_mistaken_for_a_truncated_one() {
    let place = Place::new();
    filled(&place);
    let expected = dump(&place.store());
    let mut bytes = fs::read(place.data().join("data.mdb")).unwrap();
    // LMDB may count pages at the end that it never wrote: freed by the transaction that took them.
    for meta in [0, 4096] {
        let last = u64::from_ne_bytes(bytes[meta + 136..meta + 144].try_into().unwrap());
        bytes[meta + 136..meta + 144].copy_from_slice(&(last + 3).to_ne_bytes());
    }
    assert!(open_damaged(&place, &bytes, &expected));
    assert!(fs::metadata(place.data().join("data.mdb")).unwrap().len() > bytes.len() as u64);
    assert_eq!(place.quarantined(), [""; 0]);
}

#[test]
fn a_garbage_lock_file_is_of_no_consequence() {
    let place = Place::new();
    filled(&place);
    let expected = dump(&place.store());
    for garbage in [b"x".to_vec(), vec![0xFF; 50_000], Vec::new()] {
        fs::write(place.data().join("lock.mdb"), garbage).unwrap();
        assert_eq!(dump(&place.store()), expected);
    }
}

/// Not a test of its own: opens a store with damaged pages, in a process that may die of it.
#[test]
fn reader() {
    let Some(work) = work() else { return };
    let folder = Path::new(&work[0]);
    for (number, expected) in work[1..].iter().enumerate() {
        let data = folder.join(number.to_string());
        if LmdbStore::verify_file(&data).unwrap().is_err() {
            println!("found by its pages");
            continue;
        }
        let store = match LmdbStore::open(&LmdbOptions::new(&data, 0)) {
            Ok(store) => store,
            Err(error) => {
                println!("found when opened: {error}");
                continue;
            }
        };
        if store.check().unwrap().problems > 0 {
            println!("found by its values");
            continue;
        }
        let found = blake3::hash(dump(&store).as_bytes()).to_hex();
        assert_eq!(found.as_str(), expected, "a flip that changes what is read was not found");
        println!("of no consequence");
    }
}

#[test]
fn any_flipped_byte_of_the_data_file_is_found_or_of_no_consequence() {
    let place = Place::new();
    filled(&place);
    let store = place.store();
    // Some history, so that there are free pages and values on pages of their own.
    let big = FoldBatch { state: Some(vec![5; 20_000]), ..FoldBatch::of(snapshot("two", 5)) };
    store.commit_fold(&big).unwrap();
    store.forget("one", 7, Why::Forgotten).unwrap();
    let records = (0..200).map(|number| record(Some(&format!("more {number}")), &[9; 90])).collect();
    store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot("three", 6)) }).unwrap();
    let expected = blake3::hash(dump(&store).as_bytes()).to_hex().to_string();
    drop(store);
    let whole = fs::read(place.data().join("data.mdb")).unwrap();
    let mut dice = Dice(0xF11B);
    let (mut found, mut harmless) = (0, 0);
    for _ in 0..40 {
        let mut arguments = vec![place.folder.to_str().unwrap()];
        for number in 0..25 {
            let mut bytes = whole.clone();
            // Every page alike, but the structure at its start more than its middle.
            let page = dice.below(bytes.len() / 4096) * 4096;
            let within = if dice.below(2) == 0 { dice.below(200) } else { dice.below(4096) };
            bytes[page + within] ^= 1 << dice.below(8);
            let folder = place.folder.join(number.to_string());
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("data.mdb"), bytes).unwrap();
            arguments.push(&expected);
        }
        let output = worker("reader", &arguments).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{:?}\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        found += text.matches("found ").count();
        harmless += text.matches("of no consequence").count();
    }
    assert_eq!(found + harmless, 1000);
    println!("{found} found, {harmless} of no consequence");
    assert!(found > 150, "{found}");
}
