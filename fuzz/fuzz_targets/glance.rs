//! A store's file with any bytes changed in it is looked at without harm: an answer or an error, and what is found under a
//! session's name is that session's.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use context_graph_fuzz::{empty_folder, number, take};
use context_graph_storage::store::Glance;
use context_graph_storage::{FoldBatch, LmdbOptions, LmdbStore, LogRecord, SessionStore};
use libfuzzer_sys::fuzz_target;

/// The folder of the store, and its file as it was written: trees of several levels, and values of all sizes.
static STORE: LazyLock<(PathBuf, Vec<u8>)> = LazyLock::new(|| {
    let folder = empty_folder().join("data");
    let store = LmdbStore::open(&LmdbOptions::new(&folder, 1)).expect("a new store");
    for at in 0..60_u16 {
        let record = LogRecord { tool_use_id: Some("call".to_owned()), bytes: vec![7; 90], source: None };
        let batch = FoldBatch {
            state: Some(vec![3; usize::from(at) * 150]),
            records: vec![record],
            project: Some("/p".to_owned()),
            ..FoldBatch::of(SessionIdentitySnapshot::with_timestamp(&format!("s{at}"), at.into()))
        };
        store.commit_fold(&batch).expect("a session can be stored");
    }
    drop(store);
    let bytes = fs::read(folder.join("data.mdb")).expect("the file");
    (folder, bytes)
});

fuzz_target!(|bytes: &[u8]| {
    let (folder, whole) = &*STORE;
    let (mut file, mut rest) = (whole.clone(), bytes);
    while !rest.is_empty() {
        let place = number(&mut rest);
        let length = take(&mut rest, 1).first().map_or(0, |length| usize::from(*length % 33));
        let patch = take(&mut rest, length);
        let at = (place % file.len() as u64) as usize;
        let end = file.len().min(at + patch.len());
        file[at..end].copy_from_slice(&patch[..end - at]);
        // Some are cut off instead.
        if length == 32 {
            file.truncate(at.max(1));
        }
    }
    fs::write(folder.join("data.mdb"), &file).expect("the file");
    let Ok(glance) = Glance::glance(folder) else { return };
    for id in ["s0", "s7", "s31", "s59", "none"] {
        if let Ok(Some(entry)) = glance.session(id) {
            assert_eq!(entry.session_id, id);
        }
        let _ = (glance.snapshot(id), glance.state(id), glance.log(id, 1, 5));
    }
    let _ = (glance.latest_of_project("/p", Some("s59")), glance.find_calls("call"), glance.stats());
});
