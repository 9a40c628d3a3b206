//! A process that is killed while it opens the store, with another waiting behind it. The first who opens a store makes
//! LMDB's lock file anew; until that is done, the file says that nothing was ever committed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use common::{Place, log, record, snapshot, work, worker};
use context_graph_storage::{FoldBatch, LmdbStore, SessionStore};

/// Where LMDB's lock file has the number of the last commit.
const LAST_COMMIT: u64 = 8;

/// Not a test of its own: the process that dies. What LMDB does on the way is done here by hand, so that the moment can
/// be chosen.
#[test]
fn opener() {
    let Some(work) = work() else { return };
    let place = Place::at(Path::new(&work[0]));
    let opening = File::open(place.data().join("opening")).unwrap();
    opening.lock().unwrap();
    let lock = OpenOptions::new().read(true).write(true).open(place.data().join("lock.mdb")).unwrap();
    lock_first_byte(&lock);
    lock.write_all_at(&0_u64.to_ne_bytes(), LAST_COMMIT).unwrap();
    println!("opening");
    std::thread::sleep(Duration::from_mins(1));
}

fn lock_first_byte(file: &File) {
    let region = libc::flock {
        l_type: i16::try_from(libc::F_WRLCK).unwrap(),
        l_whence: i16::try_from(libc::SEEK_SET).unwrap(),
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    };
    #[expect(unsafe_code, reason = "the standard library has no locks on parts of a file")]
    // SAFETY: the file is open, and the region lives as long as the call.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const region) };
    assert_eq!(locked, 0);
}

fn commit(store: &LmdbStore, number: u64) {
    let records = vec![record(None, number.to_string().as_bytes())];
    store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot("s", 1)) }).unwrap();
}

#[test]
fn whoever_comes_behind_one_that_died_opening_finds_the_last_commit() {
    // LMDB has two places for a commit, and goes back to one of them.
    for last in [4, 5] {
        let place = Place::new();
        let store = place.store();
        (1..=last).for_each(|number| commit(&store, number));
        drop(store);

        let mut dying = worker("opener", &[place.folder.to_str().unwrap()]);
        let said = BufReader::new(dying.stdout.take().unwrap()).lines();
        assert!(said.map_while(Result::ok).any(|line| line.contains("opening")));
        let store = std::thread::scope(|scope| {
            let next = scope.spawn(|| place.store());
            std::thread::sleep(Duration::from_millis(100));
            assert!(!next.is_finished(), "it waits for the one who was first");
            dying.kill().unwrap();
            dying.wait().unwrap();
            next.join().unwrap()
        });
        commit(&store, last + 1);
        let numbers: Vec<String> = (1..=last + 1).map(|number| number.to_string()).collect();
        assert_eq!(log(&store, "s"), numbers);
    }
}
