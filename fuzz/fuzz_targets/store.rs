//! Any values in a store's tables, sealed or not, are read, reported or mended.
#![no_main]

use std::ops::ControlFlow;
use std::rc::Rc;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_fuzz::{empty_folder, number, take};
use context_graph_storage::store::engine::{Engine, Reader, Table, Writer};
use context_graph_storage::store::{KeyedStore, MemoryEngine, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord, Quarantine, Result, SessionStore, StorageError};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Tables that can be reached behind the store's back.
#[derive(Clone, Default)]
struct Shared(Rc<MemoryEngine>);

impl Engine for Shared {
    fn read<T, E: From<StorageError>>(
        &self,
        work: impl FnOnce(&dyn Reader) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.0.read(work)
    }

    fn write<T, E: From<StorageError>>(
        &self,
        work: impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.0.write(work)
    }

    fn disk_bytes(&self) -> Result<u64> {
        self.0.disk_bytes()
    }

    fn used_bytes(&self) -> Result<u64> {
        self.0.used_bytes()
    }

    fn scrub(&self) -> Result<u64> {
        self.0.scrub()
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        self.0.verify()
    }
}

fn sealed(key: &[u8], content: &[u8]) -> Vec<u8> {
    let sum = xxh3_64_with_seed(content, xxh3_64(key));
    [&sum.to_le_bytes()[..], content].concat()
}

fn log_key(ordinal: u64, seq: u64) -> Vec<u8> {
    [ordinal.to_be_bytes(), seq.to_be_bytes()].concat()
}

/// A block as the store writes it, around any bytes for records.
fn block(mut rest: &[u8]) -> Vec<u8> {
    let count = number(&mut rest) as u32;
    let chains = take(&mut rest, 64);
    let mut content = vec![0xFE, 0xFF, 1];
    content.extend(chains);
    content.resize(3 + 64, 0);
    content.extend(count.to_le_bytes());
    content.extend((rest.len() as u32).to_le_bytes());
    content.extend(lz4_flex::block::compress(rest));
    content
}

/// Where a value goes, and what it is.
fn row(kind: u8, mut rest: &[u8]) -> (Table, Vec<u8>, Vec<u8>) {
    let seal = |table, key: Vec<u8>, content: &[u8]| {
        let value = sealed(&key, content);
        (table, key, value)
    };
    match kind % 12 {
        0 => seal(Table::Log, log_key(1, 1), &block(rest)),
        1 => seal(Table::Log, log_key(1, 1), rest),
        2 => {
            let key = log_key(number(&mut rest), number(&mut rest));
            seal(Table::Log, key, &block(rest))
        }
        3 => seal(Table::Log, log_key(0, number(&mut rest)), &block(rest)),
        4 => seal(Table::Sessions, b"session:s:fold".to_vec(), rest),
        5 => seal(Table::Sessions, b"session:s:state".to_vec(), rest),
        6 => seal(Table::Meta, b"meta:counters".to_vec(), rest),
        7 => seal(Table::Meta, b"meta:own".to_vec(), rest),
        8 => seal(Table::Meta, b"meta:format".to_vec(), rest),
        9 => (Table::Sessions, b"session:s".to_vec(), rest.to_vec()),
        10 => {
            let length = number(&mut rest) as usize % 24;
            (Table::Log, take(&mut rest, length).to_vec(), rest.to_vec())
        }
        _ => {
            let length = number(&mut rest) as usize % 64;
            (Table::Sessions, take(&mut rest, length).to_vec(), rest.to_vec())
        }
    }
}

fn batch(call: &str) -> FoldBatch {
    let record = |text: &str| LogRecord { tool_use_id: Some(call.into()), bytes: text.into(), source: None };
    FoldBatch {
        state: Some(b"state".to_vec()),
        records: vec![record("one"), record("two")],
        project: Some("/p".into()),
        ..FoldBatch::of(SessionIdentitySnapshot::with_timestamp("s", 1_700_000_000_000))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let tables = Shared::default();
    let quarantine = Quarantine::new(empty_folder());
    let store = KeyedStore::new(tables.clone(), quarantine.clone()).expect("an empty store");
    store.commit_fold(&batch("a")).expect("memory takes everything");
    let mut rest = bytes;
    while let [kind, length_low, length_high] = *take(&mut rest, 3) {
        let content = take(&mut rest, usize::from(u16::from_le_bytes([length_low, length_high])));
        let (table, key, value) = row(kind, content);
        tables.write(|writer| writer.put(table, &key, &value)).expect("memory takes everything");
    }
    let Ok(store) = KeyedStore::new(tables, quarantine) else { return };
    let _ = (store.stats(), store.check(), store.tombstones(), store.successors("s"), store.chain_at("s", 1));
    let _ = (store.verify_chains(&mut |_| ()), store.find_calls("a"), store.latest_of_project("/p", None));
    let _ = store.list_sessions(&SessionQuery { limit: Some(9), ..SessionQuery::default() });
    let _ = store.visit_log("s", 0, &mut |_| ControlFlow::Continue(()));
    // What is damaged is reported once and mended, so the second time it is as if it had never been.
    for _ in 0..2 {
        let _ = (store.session("s"), store.snapshot("s"), store.state("s"));
    }
    let _ = (store.commit_fold(&batch("b")), store.check());
    if store.forget("s", 1_700_000_000_001, Why::Forgotten).is_ok() {
        assert!(store.session("s").expect("a store that has just written").is_none());
    }
});
