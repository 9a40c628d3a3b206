//! The machine dies while a transaction is on its way to the disk: any part of what it wrote may have arrived, in any
//! order, except that the data comes before the meta page that names it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Dice, Place, dump, record, snapshot};
use context_graph_storage::{FoldBatch, LmdbOptions, LmdbStore, SessionStore};

const META_BYTES: usize = 2 * 4096;
/// Disks write sectors, not pages.
const SECTOR: usize = 512;

/// A transaction of any kind: new sessions, grown ones, forgotten ones, small and large values.
fn change(store: &LmdbStore, dice: &mut Dice, round: usize) {
    let id = format!("session {}", dice.below(12));
    if dice.below(4) == 0 {
        store.forget(&id, 7, context_graph_storage::store::Why::Forgotten).unwrap();
        return;
    }
    let records = (0..dice.below(60))
        .map(|number| record(Some(&format!("call {round} {number}")), &vec![7; dice.below(700)]))
        .collect();
    let batch = FoldBatch {
        state: Some(vec![1; dice.below(30_000)]),
        records,
        project: Some("project".into()),
        ..FoldBatch::of(snapshot(&id, i64::try_from(round).unwrap()))
    };
    store.commit_fold(&batch).unwrap();
}

/// What a store with this data file holds.
fn contents(scratch: &Path, data: &[u8]) -> String {
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir_all(scratch).unwrap();
    fs::write(scratch.join("data.mdb"), data).unwrap();
    assert_eq!(LmdbStore::verify_file(scratch).unwrap(), Ok(()));
    let store = LmdbStore::open(&LmdbOptions::new(scratch, 0)).unwrap();
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
    dump(&store)
}

/// `before` with some sectors of `after`, all outside the meta pages; possibly shorter than `after`.
fn mix(before: &[u8], after: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut mixed = before.to_vec();
    let end = before.len() + dice.below(after.len() - before.len() + 1);
    mixed.resize(end, 0);
    let from_after = dice.below(101);
    for start in (META_BYTES..end).step_by(SECTOR) {
        let stop = (start + SECTOR).min(end);
        if dice.below(100) < from_after && stop <= after.len() {
            mixed[start..stop].copy_from_slice(&after[start..stop]);
        }
    }
    mixed
}

#[test]
fn no_mixture_of_old_and_new_sectors_harms_what_was_stored() {
    let place = Place::new();
    let scratch = place.folder.join("scratch");
    let data = place.data().join("data.mdb");
    let mut dice = Dice(0xB007);
    let store = place.store();
    (0..20).for_each(|round| change(&store, &mut dice, round));
    for round in 20..45 {
        let before = fs::read(&data).unwrap();
        let old = dump(&store);
        change(&store, &mut dice, round);
        let after = fs::read(&data).unwrap();
        let new = dump(&store);
        for _ in 0..5 {
            assert_eq!(contents(&scratch, &mix(&before, &after, &mut dice)), old, "round {round}");
        }
        // All data arrived, of the meta pages any.
        let (first, second) = (0..4096, 4096..META_BYTES);
        for parts in [vec![], vec![first.clone()], vec![second.clone()], vec![first, second]] {
            let mut file = after.clone();
            file[..META_BYTES].copy_from_slice(&before[..META_BYTES]);
            for part in parts {
                file[part.clone()].copy_from_slice(&after[part]);
            }
            let found = contents(&scratch, &file);
            assert!(found == old || found == new, "round {round}");
        }
    }
}
