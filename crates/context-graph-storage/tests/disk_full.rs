//! A full disk: a clear error, the old state unharmed, and everything works again once there is space.
//!
//! Needs a small file system of its own. So it runs only if the user may mount one, and otherwise says so.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{Place, fold, journal, log, record, snapshot, step};
use context_graph_storage::{FoldBatch, StorageError};

/// A file system of a few megabytes.
struct SmallDisk {
    folder: PathBuf,
    _temporary: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// One disk at a time: the processes that another test starts have copies of our open files until they run their own
/// program, and what they hold open takes space.
static ALONE: Mutex<()> = Mutex::new(());

impl SmallDisk {
    fn mount() -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("disk");
        fs::create_dir(&folder).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m", "none"])
            .arg(&folder)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            println!("SKIPPED: no right to mount a small file system");
            return None;
        }
        Some(Self { folder, _temporary: temporary, _alone: alone })
    }

    /// Leaves `bytes` of free space.
    fn fill(&self, bytes: u64) -> PathBuf {
        let ballast = self.folder.join("ballast");
        let mut file = fs::File::create(&ballast).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(bytes)).unwrap();
        ballast
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Even if something is still open after a failure. BusyBox knows only the short option.
        let unmounted = Command::new("umount").arg("-l").arg(&self.folder).status();
        assert!(unmounted.unwrap().success());
    }
}

fn batch(number: i64) -> FoldBatch {
    let records = (0..20).map(|_| record(Some("call"), &[7; 500])).collect();
    FoldBatch { records, state: Some(vec![1; 10_000]), ..FoldBatch::of(snapshot("s", number)) }
}

#[test]
fn a_full_disk_is_a_clear_error_and_costs_nothing_that_was_stored() {
    let Some(disk) = SmallDisk::mount() else { return };
    let place = Place::at(&disk.folder);
    let store = place.store();
    store.commit_fold(&batch(0)).unwrap();
    for room in [0, 4096, 8192, 20_000, 50_000, 100_000] {
        let ballast = disk.fill(room);
        let mut stored = store.session("s").unwrap().unwrap();
        let error = loop {
            match store.commit_fold(&batch(stored.timestamp_ms + 1)) {
                Ok(_) => stored = store.session("s").unwrap().unwrap(),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StorageError::DiskFull { .. }), "{room}: {error}");
        assert!(error.to_string().starts_with("disk full"), "{error}");
        assert_eq!(store.session("s").unwrap().unwrap(), stored);
        assert_eq!(store.check().unwrap().problems, 0);
        fs::remove_file(&ballast).unwrap();
        assert!(store.commit_fold(&batch(stored.timestamp_ms + 1)).is_ok(), "there is room again");
        store.forget("s", 7, context_graph_storage::store::Why::Forgotten).unwrap();
        store.commit_fold(&batch(0)).unwrap();
    }
}

#[test]
fn a_store_cannot_be_created_on_a_full_disk_and_can_be_after() {
    let Some(disk) = SmallDisk::mount() else { return };
    let place = Place::at(&disk.folder);
    for room in [0, 4096, 12_000, 40_000, 50_000] {
        let ballast = disk.fill(room);
        let options = context_graph_storage::StoreOptions::new(place.data(), 0);
        let created =
            context_graph_storage::Store::open(&options).and_then(|store| store.commit_fold(&batch(0)));
        assert!(matches!(created, Err(StorageError::DiskFull { .. })), "{room}: {created:?}");
        fs::remove_file(&ballast).unwrap();
        place.store().commit_fold(&batch(0)).unwrap();
        fs::remove_dir_all(place.data()).unwrap();
    }
}

#[test]
fn a_journal_on_a_full_disk_keeps_what_was_acknowledged() {
    let Some(disk) = SmallDisk::mount() else { return };
    let place = Place::at(&disk.folder);
    let store = place.store();
    let session = place.session("s");
    step(&session, &store, b"first");
    let mut acknowledged = vec!["first".to_owned()];
    for (round, room) in [0, 100, 5000, 9000].into_iter().enumerate() {
        let ballast = disk.fill(room);
        let error = loop {
            let payload = format!("{round}.{} {}", acknowledged.len(), "x".repeat(3000));
            match session.append_without_lock(payload.as_bytes()) {
                Ok(_) => acknowledged.push(payload),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, StorageError::DiskFull { .. }), "{error}");
        assert_eq!(journal(&session), acknowledged);
        fs::remove_file(&ballast).unwrap();
    }
    assert!(fold(&mut session.lock().unwrap(), &store, 1).emptied);
    assert_eq!(log(&store, "s"), acknowledged);
    assert_eq!(leftovers(&place.quarantine()), 0, "an entry that did not fit is no damage");
}

fn leftovers(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}
