//! A power cut while a transaction is being written. What `fsync` allows: before the rollback journal is
//! synced, the database is untouched and the journal may contain anything. After that, any part of the new
//! pages may have been written, in any order. The transaction is complete when the journal is empty.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::path::Path;

use common::{Dice, Place, dump, record, snapshot};
use context_graph_storage::store::{DATABASE, Why};
use context_graph_storage::{FoldBatch, Store, StoreOptions};

const PAGE: usize = 4096;
/// Disks write sectors, not pages.
const SECTOR: usize = 512;

/// A transaction of any kind: new sessions, grown ones, forgotten ones, small and large values.
fn change(store: &Store, dice: &mut Dice, round: usize) {
    let id = format!("session {}", dice.below(12));
    if dice.below(4) == 0 {
        store.forget(&id, 7, Why::Forgotten).unwrap();
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

/// The content of a store with these files.
fn contents(scratch: &Path, database: &[u8], journal: &[u8]) -> String {
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir_all(scratch).unwrap();
    fs::write(scratch.join(DATABASE), database).unwrap();
    fs::write(scratch.join(format!("{DATABASE}-journal")), journal).unwrap();
    let store = Store::open(&StoreOptions::new(scratch, 0)).unwrap();
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
    let chains = store.verify_chains(&mut |_| {}).unwrap();
    assert_eq!((chains.breaks, chains.first_break), (0, None));
    dump(&store)
}

/// The rollback journal of the transaction that turns `before` into `after`, in SQLite's format: a header in
/// its own sector, then each old page, with its number and a checksum.
fn journal(before: &[u8], after: &[u8]) -> Vec<u8> {
    let nonce = 0x1234_5678_u32;
    let pages = u32::try_from(before.len() / PAGE).unwrap();
    let mut records = Vec::new();
    let mut count = 0_u32;
    for (number, page) in (1_u32..).zip(before.chunks(PAGE)) {
        let at = (number as usize - 1) * PAGE;
        if after.get(at..at + PAGE) == Some(page) {
            continue;
        }
        count += 1;
        let mut sum = nonce;
        let mut place = PAGE - 200;
        while place > 0 {
            sum = sum.wrapping_add(u32::from(page[place]));
            place = place.saturating_sub(200);
        }
        records.extend(number.to_be_bytes());
        records.extend(page);
        records.extend(sum.to_be_bytes());
    }
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for word in [count, nonce, pages, u32::try_from(SECTOR).unwrap(), u32::try_from(PAGE).unwrap()] {
        journal.extend(word.to_be_bytes());
    }
    journal.resize(SECTOR, 0);
    journal.extend(records);
    journal
}

/// `before` with some sectors of `after`. Its length is somewhere between theirs.
fn mix(before: &[u8], after: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut mixed = before.to_vec();
    let end = before.len() + dice.below(after.len().saturating_sub(before.len()) + 1);
    mixed.resize(end, 0);
    let from_after = dice.below(101);
    for start in (0..end.min(after.len())).step_by(SECTOR) {
        let stop = (start + SECTOR).min(end).min(after.len());
        if dice.below(100) < from_after {
            mixed[start..stop].copy_from_slice(&after[start..stop]);
        }
    }
    mixed
}

#[test]
fn no_mixture_of_old_and_new_sectors_harms_what_was_stored() {
    let place = Place::new();
    let scratch = place.folder.join("scratch/data");
    let file = place.data().join(DATABASE);
    let mut dice = Dice(0xB007);
    let store = place.store();
    (0..20).for_each(|round| change(&store, &mut dice, round));
    for round in 20..45 {
        let before = fs::read(&file).unwrap();
        let old = dump(&store);
        change(&store, &mut dice, round);
        let after = fs::read(&file).unwrap();
        let new = dump(&store);
        let journal = journal(&before, &after);
        // The journal is being written: any part of it, none of the pages.
        let cut = dice.below(journal.len() + 1);
        let mut half = vec![0; journal.len()];
        half[SECTOR.min(cut)..cut].copy_from_slice(&journal[SECTOR.min(cut)..cut]);
        for part in [&journal[..0], &half[..], &half[..cut]] {
            assert_eq!(contents(&scratch, &before, part), old, "round {round}");
        }
        // The journal is complete, the pages are being written.
        for _ in 0..5 {
            assert_eq!(contents(&scratch, &mix(&before, &after, &mut dice), &journal), old, "round {round}");
        }
        assert_eq!(contents(&scratch, &after, &journal), old, "round {round}: not over yet");
        assert_eq!(contents(&scratch, &after, &[]), new, "round {round}");
    }
}
