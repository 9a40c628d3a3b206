//! Progress of long work, on stderr, if it is a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Work that is done sooner is not worth a line.
const PATIENCE: Duration = Duration::from_millis(300);
/// How often the line changes.
const PACE: Duration = Duration::from_millis(100);

/// A line that comes, changes and goes.
#[derive(Debug)]
pub(super) struct Progress {
    doing: &'static str,
    watched: bool,
    next: Instant,
    told: bool,
}

impl Progress {
    pub(super) fn new(doing: &'static str) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self { doing, watched, next: Instant::now() + PATIENCE, told: false }
    }

    /// Says nothing where the work's own output is what is looked at.
    #[must_use]
    pub(super) fn unless(mut self, disturbing: bool) -> Self {
        self.watched &= !disturbing;
        self
    }

    /// Whether it is worth telling now.
    fn is_due(&self) -> bool {
        self.watched && Instant::now() >= self.next
    }

    /// Says that so many of so many are done.
    pub(super) fn tell(&mut self, done: u64, of: u64) {
        if self.is_due() {
            let _ = write!(std::io::stderr(), "\r{}: {done} of {of} ", self.doing);
            self.next = Instant::now() + PACE;
            self.told = true;
        }
    }

    /// Takes the line away again.
    pub(super) fn done(&mut self) {
        if self.told {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.told = false;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
