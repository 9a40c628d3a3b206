//! The hash chain: anything that another program changed, removed or added is found and reported.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;

use common::{Place, record, snapshot};
use context_graph_storage::store::{Chain, ChainReport, DATABASE, Tombstone, Why};
use context_graph_storage::{FoldBatch, LogRecord};
use proptest::prelude::*;
use rusqlite::Connection;

/// Three sessions, the second with several blocks, and one that was forgotten.
fn filled(place: &Place) {
    let store = place.store();
    for (time, id) in ["one", "two", "three", "gone"].into_iter().enumerate() {
        for turn in 0..4_u8 {
            let records = (0..6_u8).map(|at| LogRecord {
                tool_use_id: Some(format!("{id} {turn} {at}")),
                // Noise, so that LZ4 does not put everything into one block.
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

/// A value that is part of the record: table, column, the row's place, and the value.
#[derive(Debug, Clone, PartialEq)]
struct Value {
    table: &'static str,
    column: &'static str,
    key: (i64, i64),
    bytes: Vec<u8>,
}

fn open(place: &Place) -> Connection {
    Connection::open(place.data().join(DATABASE)).unwrap()
}

/// The values that make up the record: blocks, heads and tombstones.
fn values(place: &Place) -> Vec<Value> {
    let connection = open(place);
    let mut values = Vec::new();
    for (table, column, key) in [
        ("blocks", "content", "session, first_seq"),
        ("sessions", "chain", "number, number"),
        ("tombstones", "content", "seq, seq"),
        ("tombstones", "link", "seq, seq"),
    ] {
        let mut statement = connection.prepare(&format!("SELECT {key}, {column} FROM {table}")).unwrap();
        let rows = statement.query_map([], |row| {
            Ok(Value { table, column, key: (row.get(0)?, row.get(1)?), bytes: row.get(2)? })
        });
        values.extend(rows.unwrap().map(Result::unwrap));
    }
    values
}

impl Value {
    fn place(&self) -> &'static str {
        match self.table {
            "blocks" => "session = ? AND first_seq = ?",
            "sessions" => "number = ? AND number = ?",
            _ => "seq = ? AND seq = ?",
        }
    }

    fn put(&self, place: &Place, bytes: &[u8]) {
        let asked = format!("UPDATE {} SET {} = ? WHERE {}", self.table, self.column, self.place());
        let changed = open(place).execute(&asked, rusqlite::params![bytes, self.key.0, self.key.1]).unwrap();
        assert_eq!(changed, 1);
    }
}

#[test]
fn an_honest_store_holds_and_counts_what_it_has() {
    let place = Place::new();
    filled(&place);
    let report = verify(&place);
    assert_eq!((report.breaks, report.first_break.clone()), (0, None));
    assert_eq!((report.sessions, report.records, report.removed), (3, 3 * 24, 1));
    let check = place.store().check().unwrap();
    assert_eq!((check.problems, check.records), (0, 3 * 24));
    let blocks = values(&place).iter().filter(|value| value.table == "blocks").count();
    assert!(blocks > 3, "the second session has several blocks: {blocks}");
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
    for at in 0.. {
        let place = Place::new();
        filled(&place);
        let values = values(&place);
        let Some(value) = values.get(at) else { break };
        let asked = format!("DELETE FROM {} WHERE {}", value.table, value.place());
        open(&place).execute(&asked, rusqlite::params![value.key.0, value.key.1]).unwrap();
        assert!(verify(&place).breaks > 0, "{value:?}");
    }
}

#[test]
fn a_session_that_vanishes_with_all_its_rows_is_missed() {
    let place = Place::new();
    filled(&place);
    let gone = "DELETE FROM events WHERE session = 3; DELETE FROM blocks WHERE session = 3;
        DELETE FROM states WHERE session = 3; DELETE FROM sessions WHERE number = 3;";
    open(&place).execute_batch(gone).unwrap();
    let found = verify(&place).first_break.unwrap();
    assert!(found.what.contains("session number 3 is missing and has no tombstone"), "{found:?}");
}

#[test]
fn blocks_that_change_places_are_found() {
    let place = Place::new();
    filled(&place);
    let blocks: Vec<Value> = values(&place).into_iter().filter(|value| value.table == "blocks").collect();
    for (left, right) in blocks.iter().zip(blocks.iter().skip(1)) {
        left.put(&place, &right.bytes);
        right.put(&place, &left.bytes);
        assert!(verify(&place).breaks > 0);
        left.put(&place, &left.bytes);
        right.put(&place, &right.bytes);
    }
    assert_eq!(verify(&place).breaks, 0);
}

#[test]
fn a_damaged_block_is_not_written_over_when_more_comes() {
    let place = Place::new();
    filled(&place);
    let block =
        values(&place).into_iter().rfind(|value| value.table == "blocks" && value.key.0 == 1).unwrap();
    let mut damaged = block.bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    block.put(&place, &damaged);
    let more = FoldBatch { records: vec![record(None, b"more")], ..FoldBatch::of(snapshot("one", 9)) };
    assert_eq!(place.store().commit_fold(&more).unwrap(), 25);
    let found = verify(&place).first_break.unwrap();
    assert_eq!(found.session_id.as_deref(), Some("one"));
    assert!(values(&place).iter().any(|value| value.bytes == damaged), "still there to be looked at");
}

#[test]
fn what_was_forgotten_is_not_in_the_file_any_more() {
    let place = Place::new();
    let store = place.store();
    // Words without anything in common, so that compression leaves them readable.
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
        let mut found = 0;
        for file in fs::read_dir(place.data()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            found += (0..30).filter(|turn| text.contains(&word(id, *turn))).count();
        }
        found
    };
    assert!(found("kept") > 20 && found("gone") > 20);
    store.forget("gone", 1, Why::Forgotten).unwrap();
    assert_eq!(found("gone"), 0);
    assert!(found("kept") > 20, "{}", found("kept"));
    let (disk, used) = store.sizes().unwrap();
    assert!(used < disk, "{used} {disk}");
    assert_eq!(store.check().unwrap().first_problem, None);
    assert_eq!(store.verify_chains(&mut |_| {}).unwrap().breaks, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_flipped_byte_of_the_record_is_found(at in any::<prop::sample::Index>(), flip in 1_u8..) {
        thread_local! {
            static STORE: (Place, Vec<Value>) = {
                let place = Place::new();
                filled(&place);
                let values = values(&place);
                (place, values)
            };
        }
        STORE.with(|(place, values)| {
            let total: usize = values.iter().map(|value| value.bytes.len()).sum();
            let mut byte = at.index(total);
            let value = values.iter().find(|value| {
                let here = byte < value.bytes.len();
                if !here { byte -= value.bytes.len(); }
                here
            }).unwrap();
            let mut damaged = value.bytes.clone();
            damaged[byte] ^= flip;
            value.put(place, &damaged);
            let found = verify(place).breaks > 0;
            value.put(place, &value.bytes);
            prop_assert!(found, "{} {:?} byte {byte}", value.table, value.key);
            Ok(())
        })?;
    }
}
