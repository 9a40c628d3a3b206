//! A lock on the state folder for upkeep and removal: each waits for the other, so that neither works on files that
//! the other has removed.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use crate::file_lock;
use crate::mark::MARK;
use crate::safe_open::{Access, Folder};
use crate::sessions::UPKEEP_STAMP;
use crate::system;

/// Holds the lock until it is dropped. If the folder cannot be locked, the work is done without a lock.
#[derive(Debug)]
pub struct Held {
    _lock: Option<File>,
}

impl Held {
    /// Holds the folder for an upkeep, waiting for others; `None` if it is gone by then.
    pub fn for_upkeep(folder: &Path) -> io::Result<Option<Self>> {
        loop {
            let path = folder.join(UPKEEP_STAMP);
            let stamp = match open(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                opened => opened?.filter(|stamp| file_lock::alone(stamp).is_ok()),
            };
            // The previous holder may have removed it.
            let is_there = |stamp| system::about(stamp).is_ok_and(|about| !system::is_removed(&about, &path));
            if stamp.as_ref().is_none_or(is_there) {
                return Ok(Some(Self { _lock: stamp }));
            }
        }
    }

    /// Holds the folder before it is removed; `None` if an upkeep takes longer than `patience`.
    pub fn for_removal(folder: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let stamp = open(folder)?;
        let until = Instant::now() + patience;
        while stamp.as_ref().is_some_and(|stamp| system::try_lock(stamp).is_ok_and(|locked| !locked)) {
            if Instant::now() >= until {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(Some(Self { _lock: stamp }))
    }

    /// Removes the folder with everything in it, if it is still there.
    pub fn remove(self, folder: &Path) -> io::Result<()> {
        let mut removed = fs::remove_dir_all(folder);
        if removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty) {
            // On some Windows file systems a removed file stays until it is closed, and this lock keeps one open.
            drop(self);
            removed = fs::remove_dir_all(folder);
        }
        removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    }
}

/// The file that is locked; `None` if a checkout has put something else in its place, or if nothing can be
/// written. It is created only in a folder with our mark: the user may have named any folder.
fn open(folder: &Path) -> io::Result<Option<File>> {
    let folder = Folder::open(folder)?;
    let access = if folder.has(MARK) { Access::WriteOrCreate } else { Access::Write };
    Ok(folder.file(UPKEEP_STAMP, access).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upkeep_and_a_removal_wait_for_each_other() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        assert!(Held::for_upkeep(&folder).unwrap().is_none(), "it is not there");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(MARK), "").unwrap();
        let upkeep = Held::for_upkeep(&folder).unwrap().unwrap();
        assert!(Held::for_removal(&folder, Duration::ZERO).unwrap().is_none(), "the upkeep is at work");
        drop(upkeep);
        let removal = Held::for_removal(&folder, Duration::ZERO).unwrap().unwrap();
        let waiting = thread::spawn({
            let folder = folder.clone();
            move || Held::for_upkeep(&folder).unwrap().is_none()
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!waiting.is_finished(), "the removal is at work");
        fs::remove_dir_all(&folder).unwrap();
        drop(removal);
        assert!(waiting.join().unwrap(), "it is gone");
    }

    #[test]
    fn a_removal_takes_everything_with_it_and_its_own_lock() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        fs::create_dir_all(folder.join("deep/er")).unwrap();
        fs::write(folder.join(MARK), "").unwrap();
        let held = Held::for_removal(&folder, Duration::ZERO).unwrap().unwrap();
        assert!(folder.join(UPKEEP_STAMP).exists());
        held.remove(&folder).unwrap();
        assert!(!folder.exists());
        Held { _lock: None }.remove(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_stands_in_the_way_of_the_lock_stops_nobody() {
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", place.path().join(UPKEEP_STAMP)).unwrap();
        assert!(Held::for_upkeep(place.path()).unwrap().is_some());
        assert!(Held::for_removal(place.path(), Duration::ZERO).unwrap().is_some());
    }
}
