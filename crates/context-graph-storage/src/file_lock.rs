//! Locks that wait, also when a signal interrupts. They end with the file, even when the process is killed. They are
//! advisory: programs that do not ask for them can read and write.

use std::fs::File;
use std::io;

use crate::system;

/// Waits until no one else holds `file`.
pub(crate) fn alone(file: &File) -> io::Result<()> {
    uninterrupted(|| system::lock(file))
}

/// Lets others hold `file`.
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
