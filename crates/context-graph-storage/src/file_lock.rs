//! Advisory locks that wait, and go on waiting when a signal comes. They end with the file, also when the process is
//! killed.

use std::fs::File;
use std::io;

/// Waits until no one else holds `file`.
pub(crate) fn alone(file: &File) -> io::Result<()> {
    uninterrupted(|| file.lock())
}

fn uninterrupted(mut attempt: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
