//! The hash chain: what was changed, taken out or added behind the store's back is found and named.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{Place, record, snapshot};
use context_graph_storage::store::{Chain, ChainReport, Tombstone, Why};
use context_graph_storage::{FoldBatch, LmdbOptions, LmdbStore, LogRecord, SessionStore};
use heed::types::Bytes;
use heed::{Database, EnvOpenOptions};
use proptest::prelude::*;

/// Three sessions, the second with several blocks, and one that was forgotten.
fn filled(place: &Place) {
    let store = place.store();
    for (time, id) in ["one", "two", "three", "gone"].into_iter().enumerate() {
        for turn in 0..4_u8 {
            let records = (0..6_u8).map(|at| LogRecord {
                tool_use_id: Some(format!("{id} {turn} {at}")),
                // Noise, so that LZ4 does not make one block of it all.
                bytes: (0..if id == "two" { 3000 } else { 40_u32 })
                    .map(|byte| (byte.wrapping_mul(2_654_435_761) >> (at + turn)).to_le_bytes()[2])
                    .collect(),
                source: None,
            });
            let batch = FoldBatch {
                records: records.collect(),
                state: Some(vec![turn; 100]),
                ..FoldBatch::of(snapshot(id, i64::try_from(time).unwrap()))
            };
            store.commit_fold(&batch).unwrap();
        }
    }
    store.forget("gone", 99, Why::Forgotten).unwrap();
}

fn verify(place: &Place) -> ChainReport {
    place.store().verify_chains(&mut |_| {}).unwrap()
}

type Row = (&'static str, Vec<u8>, Vec<u8>);

fn with_tables<T>(
    place: &Place,
    work: impl FnOnce(&mut dyn FnMut(&str) -> Database<Bytes, Bytes>, &mut heed::RwTxn<'_>) -> T,
) -> T {
    #[expect(unsafe_code, reason = "the test opens the database itself")]
    let env = unsafe { EnvOpenOptions::new().map_size(1 << 30).max_dbs(3).open(place.data()).unwrap() };
    let reader = env.read_txn().unwrap();
    let mut tables = Vec::new();
    for name in ["", "sessions", "log", "calls"] {
        let table: Database<Bytes, Bytes> =
            env.open_database(&reader, Some(name).filter(|name| !name.is_empty())).unwrap().unwrap();
        tables.push((name, table));
    }
    reader.commit().unwrap();
    let mut txn = env.write_txn().unwrap();
    let result = work(&mut |name| tables.iter().find(|(known, _)| *known == name).unwrap().1, &mut txn);
    txn.commit().unwrap();
    result
}

/// The rows that make up the record: logs, ledgers, and what the store keeps about itself.
fn rows(place: &Place) -> Vec<Row> {
    with_tables(place, |table, txn| {
        let mut rows: Vec<Row> = Vec::new();
        for name in ["", "sessions", "log"] {
            for entry in table(name).iter(txn).unwrap() {
                let (key, value) = entry.unwrap();
                let of_the_record = match name {
                    "" => key.starts_with(b"meta:"),
                    "sessions" => key.ends_with(b":fold"),
                    _ => true,
                };
                if of_the_record {
                    rows.push((name, key.to_vec(), value.to_vec()));
                }
            }
        }
        rows
    })
}

fn put(place: &Place, (name, key, value): &Row) {
    with_tables(place, |table, txn| table(name).put(txn, key, value).unwrap());
}

#[test]
fn an_honest_store_holds_and_counts_what_it_has() {
    let place = Place::new();
    filled(&place);
    let report = verify(&place);
    assert_eq!((report.breaks, report.first_break.clone()), (0, None));
    assert_eq!((report.sessions, report.records, report.removed, report.unchained), (3, 3 * 24 + 1, 1, 0));
    let check = place.store().check().unwrap();
    assert_eq!((check.problems, check.records), (0, 3 * 24));
    let blocks = rows(&place).iter().filter(|(name, ..)| *name == "log").count();
    assert!(blocks > 3 * 2 + 1, "the second session has several blocks: {blocks}");
    let tombstone = &place.store().tombstones().unwrap()[0];
    assert_eq!((tombstone.records, tombstone.at_ms, tombstone.why), (24, 99, Why::Forgotten));
    assert_eq!(tombstone.fingerprint, Tombstone::fingerprint("gone"));
}

#[test]
fn the_head_is_what_the_records_give() {
    let place = Place::new();
    filled(&place);
    let store = place.store();
    let entry = store.session("two").unwrap().unwrap();
    let mut chain = Chain::begin(2, "two");
    for record in store.log("two", 1, usize::MAX).unwrap() {
        chain = chain.next(record.seq, record.tool_use_id.as_deref(), &record.bytes.unwrap());
        if record.seq == 7 {
            assert_eq!(store.chain_at("two", 7).unwrap(), Some(chain));
        }
    }
    assert_eq!(entry.chain, Some(chain));
    assert_eq!(store.chain_at("two", 25).unwrap(), None);
}

#[test]
fn a_row_that_is_taken_out_is_missed() {
    let place = Place::new();
    filled(&place);
    for row in rows(&place).iter().filter(|(name, ..)| !name.is_empty()) {
        with_tables(&place, |table, txn| assert!(table(row.0).delete(txn, &row.1).unwrap()));
        assert!(verify(&place).breaks > 0, "{} {}", row.0, row.1.escape_ascii());
        put(&place, row);
    }
    assert_eq!(verify(&place).breaks, 0);
}

#[test]
fn a_session_that_vanishes_with_all_its_rows_is_missed() {
    let place = Place::new();
    filled(&place);
    with_tables(&place, |table, txn| {
        for seq in 0..=24_u64 {
            table("log").delete(txn, &[3_u64.to_be_bytes(), seq.to_be_bytes()].concat()).unwrap();
        }
        let doomed: Vec<Vec<u8>> = table("sessions")
            .iter(txn)
            .unwrap()
            .map(|entry| entry.unwrap().0.to_vec())
            .filter(|key| key.windows(5).any(|part| part == b"three"))
            .collect();
        for key in doomed {
            table("sessions").delete(txn, &key).unwrap();
        }
    });
    let found = verify(&place).first_break.unwrap();
    assert!(found.what.contains("session number 3 is gone and left no tombstone"), "{found:?}");
}

#[test]
fn blocks_that_change_places_are_found() {
    let place = Place::new();
    filled(&place);
    let log: Vec<Row> = rows(&place).into_iter().filter(|(name, ..)| *name == "log").collect();
    for (left, right) in log.iter().zip(log.iter().skip(1)) {
        put(&place, &("log", left.1.clone(), right.2.clone()));
        put(&place, &("log", right.1.clone(), left.2.clone()));
        assert!(verify(&place).breaks > 0);
        put(&place, left);
        put(&place, right);
    }
}

#[test]
fn a_damaged_block_is_not_written_over_when_more_comes() {
    let place = Place::new();
    filled(&place);
    let mut row = rows(&place).into_iter().rfind(|(name, key, _)| *name == "log" && key[7] == 1).unwrap();
    let last = row.2.len() - 1;
    row.2[last] ^= 1;
    put(&place, &row);
    let more = FoldBatch { records: vec![record(None, b"more")], ..FoldBatch::of(snapshot("one", 9)) };
    assert_eq!(place.store().commit_fold(&more).unwrap(), 25);
    let found = verify(&place).first_break.unwrap();
    assert_eq!((found.session_id.as_deref(), found.seq), (Some("one"), Some(1)));
    assert!(rows(&place).contains(&row), "the damaged bytes are still there to be looked at");
}

#[test]
fn what_was_forgotten_is_not_in_the_file_any_more() {
    let place = Place::new();
    let store = place.store();
    // Words that have nothing in common, so that compression leaves them readable.
    let word =
        |id: &str, turn: usize| blake3::hash(format!("{id} {turn}").as_bytes()).to_hex()[..24].to_owned();
    for turn in 0..30 {
        for id in ["kept", "gone"] {
            let batch = FoldBatch {
                records: vec![record(None, word(id, turn).as_bytes())],
                state: Some(word(id, turn).repeat(200).into_bytes()),
                ..FoldBatch::of(snapshot(id, i64::try_from(turn).unwrap()))
            };
            store.commit_fold(&batch).unwrap();
        }
    }
    let found = |id: &str| {
        let bytes = fs::read(place.data().join("data.mdb")).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        (0..30).filter(|turn| text.contains(&word(id, *turn))).count()
    };
    let kept = found("kept");
    assert!(kept > 20 && found("gone") > 20);
    store.forget("gone", 1, Why::Forgotten).unwrap();
    assert!(found("gone") > 0, "only marked as free");
    drop(store);
    let store = place.store();
    assert!(store.scrub().unwrap() > 0);
    assert_eq!((found("gone"), found("kept")), (0, kept));
    let stats = store.stats().unwrap();
    assert!(stats.used_bytes < stats.disk_bytes, "{stats:?}");
    assert_eq!(store.check().unwrap().first_problem, None);
    assert_eq!(store.verify_chains(&mut |_| {}).unwrap().breaks, 0);
}

/// Written by the first format: two sessions, no chain, one record a row.
#[test]
fn a_store_of_the_first_format_is_read_and_continued() {
    let place = Place::new();
    fs::create_dir_all(place.data()).unwrap();
    fs::write(place.data().join("data.mdb"), include_bytes!("fixtures/store-1.mdb")).unwrap();
    let store = LmdbStore::open(&LmdbOptions::new(place.data(), 0)).unwrap();
    let (old, older) = ("fixture-session-b", "fixture-session-a");
    let before = store.log(old, 1, usize::MAX).unwrap();
    assert_eq!(before.len(), 7);
    assert!(before.iter().all(|entry| entry.bytes.is_some()));
    assert_eq!(store.find_calls("toolu_fixture_1").unwrap().len(), 4);
    let stats = store.stats().unwrap();
    assert_eq!((stats.sessions, stats.records), (2, 14));
    assert_eq!(store.check().unwrap().first_problem, None);
    let report = store.verify_chains(&mut |_| {}).unwrap();
    assert_eq!((report.breaks, report.records, report.unchained), (0, 14, 14));

    let snapshot = store.snapshot(old).unwrap().unwrap();
    let more = FoldBatch { records: vec![record(Some("new"), b"more")], ..FoldBatch::of(snapshot) };
    assert_eq!(store.commit_fold(&more).unwrap(), 8);
    assert_eq!(store.log(old, 1, usize::MAX).unwrap()[..7], before);
    let report = store.verify_chains(&mut |_| {}).unwrap();
    assert_eq!((report.breaks, report.records, report.unchained), (0, 15, 7), "{report:?}");
    assert_eq!(store.check().unwrap().first_problem, None);
    assert_eq!(store.forget(older, 1, Why::Age).unwrap().records, 7);
    assert_eq!(store.verify_chains(&mut |_| {}).unwrap().first_break, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_flipped_byte_of_the_record_is_found(at in any::<prop::sample::Index>(), flip in 1_u8..) {
        thread_local! {
            static STORE: (Place, Vec<Row>) = {
                let place = Place::new();
                filled(&place);
                let rows = rows(&place);
                (place, rows)
            };
        }
        STORE.with(|(place, rows)| {
            let total: usize = rows.iter().map(|(.., value)| value.len()).sum();
            let mut byte = at.index(total);
            let row = rows.iter().find(|(.., value)| {
                let here = byte < value.len();
                if !here { byte -= value.len(); }
                here
            }).unwrap();
            let mut damaged = row.clone();
            damaged.2[byte] ^= flip;
            put(place, &damaged);
            let found = verify(place).breaks > 0 || place.store().check().unwrap().problems > 0;
            put(place, row);
            prop_assert!(found, "{} {} byte {byte}", row.0, row.1.escape_ascii());
            Ok(())
        })?;
    }
}
