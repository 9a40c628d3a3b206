//! The map of the data file: it grows by itself, follows what other processes make of it, and makes do with little
//! address space.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Place, record, snapshot, work, worker};
use context_graph_storage::store::SessionQuery;
use context_graph_storage::{FoldBatch, LmdbOptions, LmdbStore, SessionStore};

const SMALL: usize = 256 << 10;

fn open_small(data: &Path) -> LmdbStore {
    LmdbStore::open(&LmdbOptions { map_bytes: SMALL, ..LmdbOptions::new(data, 0) }).unwrap()
}

/// Bytes that no compression makes smaller.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..500).flat_map(|_| next()).collect()
}

fn store_much(store: &LmdbStore, id: &str) {
    for number in 0..5 {
        let records = (0..50).map(|seed| record(None, &noise(seed))).collect();
        store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot(id, number)) }).unwrap();
    }
}

/// Not a test of its own: another process that stores much.
#[test]
fn other() {
    let Some(work) = work() else { return };
    let store = open_small(Path::new(&work[0]));
    store_much(&store, "other");
    println!("stored");
}

#[test]
fn it_grows_by_itself_and_follows_other_processes() {
    let place = Place::new();
    let data = place.data();
    let store = open_small(&data);
    store.commit_fold(&FoldBatch::of(snapshot("s", 1))).unwrap();
    let output = worker("other", &[data.to_str().unwrap()]).wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(store.stats().unwrap().disk_bytes > SMALL as u64);
    assert_eq!(store.session("other").unwrap().unwrap().last_seq, 250, "read after another process grew it");
    let output = worker("other", &[data.to_str().unwrap()]).wait_with_output().unwrap();
    assert!(output.status.success());
    store_much(&store, "own");
    assert_eq!(store.list_sessions(&SessionQuery::default()).unwrap().len(), 3);
    assert_eq!(store.check().unwrap().problems, 0);
}

/// Not a test of its own: opens the product's map, where it can be had at all.
#[test]
fn limited() {
    let Some(work) = work() else { return };
    let store = LmdbStore::open(&LmdbOptions::new(Path::new(&work[0]), 0)).unwrap();
    store_much(&store, "limited");
    println!("stored");
}

#[test]
fn where_the_usual_reservation_is_not_to_be_had_a_smaller_one_does() {
    let place = Place::new();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 700000 && exec \"$0\" limited --exact --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env("STORAGE_TEST_WORK", place.data().to_str().unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stored"));
    assert_eq!(place.store().session("limited").unwrap().unwrap().last_seq, 250);
}
