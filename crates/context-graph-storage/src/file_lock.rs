//! Blocking file locks that continue to wait after a signal. They are released with the file, even if the
//! process is killed. They are advisory: programs that do not use them can still read and write.

use std::fs::File;
use std::io;

use crate::system;

/// Waits for an exclusive lock on `file`.
pub(crate) fn alone(file: &File) -> io::Result<()> {
    uninterrupted(|| system::lock(file))
}

/// Releases the lock on `file`.
pub(crate) fn release(file: &File) -> io::Result<()> {
    system::unlock(file)
}

fn uninterrupted(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
