//! A store's file with any changes is read, reported or set aside, and the next store starts from empty.
#![no_main]

use std::cell::OnceCell;
use std::fs;
use std::ops::ControlFlow;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_fuzz::{empty_folder, number, take};
use context_graph_storage::store::{DATABASE, Filter, SessionQuery, Why};
use context_graph_storage::{FoldBatch, LogRecord, Store, StoreOptions};
use libfuzzer_sys::fuzz_target;

fn batch(call: &str) -> FoldBatch {
    let record = |text: &str| LogRecord { tool_use_id: Some(call.into()), bytes: text.into(), source: None };
    FoldBatch {
        state: Some(b"state".to_vec()),
        records: vec![record("one"), record("two")],
        project: Some("/p".into()),
        ..FoldBatch::of(SessionIdentitySnapshot::with_timestamp("s", 1_700_000_000_000))
    }
}

/// The file of a valid store.
fn whole() -> Vec<u8> {
    let folder = empty_folder().join("data");
    let store = Store::open(&StoreOptions::new(&folder, 1)).expect("a new store");
    store.commit_fold(&batch("a")).expect("there is room");
    while store.learn_words(i64::MAX).expect("there is room") > 0 {}
    drop(store);
    fs::read(folder.join(DATABASE)).expect("the file")
}

thread_local! {
    static WHOLE: OnceCell<Vec<u8>> = const { OnceCell::new() };
}

fuzz_target!(|bytes: &[u8]| {
    let mut file = WHOLE.with(|known| known.get_or_init(whole).clone());
    let mut rest = bytes;
    while rest.len() > 9 {
        let at = number(&mut rest) as usize % file.len();
        let length = usize::from(take(&mut rest, 1)[0]);
        for (place, byte) in file[at..].iter_mut().zip(take(&mut rest, length)) {
            *place = *byte;
        }
    }
    let folder = empty_folder().join("data");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(DATABASE), &file).expect("the file");
    let Ok(store) = Store::open(&StoreOptions::new(&folder, 1)) else { return };
    let _ = (store.stats(), store.check(), store.tombstones(), store.successors("s"), store.chain_at("s", 1));
    let _ = (store.verify_chains(&mut |_| ()), store.find_calls("a"), store.latest_of_project("/p", None));
    let _ = store.list_sessions(&SessionQuery { limit: Some(9), ..SessionQuery::default() });
    let _ = store.visit_log("s", 0, &mut |_| ControlFlow::Continue(()));
    let _ = store.entries(&Filter::default(), &[], 9);
    // Damage is reported once and repaired, so the second round reads as if nothing had been damaged.
    for _ in 0..2 {
        let _ = (store.session("s"), store.snapshot("s"), store.state("s"));
    }
    let _ = (store.commit_fold(&batch("b")), store.forget("s", 1_700_000_000_001, Why::Forgotten));
});
