//! How far a long piece of work has come, on stderr, where a person is looking.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use context_graph_storage::audit_index::Trail;
use context_graph_storage::store::SessionEntry;

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

/// How far the making of tables has come, for questions that need those of many sessions.
#[derive(Debug)]
pub(super) struct IndexProgress {
    progress: Progress,
    /// How many sessions had to be read.
    made: u64,
    /// How many there are to read, at most; known once it is told.
    stale: Option<u64>,
}

impl IndexProgress {
    pub(super) fn new() -> Self {
        let progress = Progress::new("reading sessions that are new to the index");
        Self { progress, made: 0, stale: None }
    }

    /// Takes note that a session is looked at, and tells if it has to be read for it.
    pub(super) fn look(&mut self, trail: &Trail<'_>, entry: &SessionEntry) {
        if !self.progress.watched || trail.is_fresh(entry) {
            return;
        }
        self.made += 1;
        if !self.progress.is_due() {
            return;
        }
        let before = self.made - 1;
        let count = || before + trail.sessions().iter().filter(|entry| !trail.is_fresh(entry)).count() as u64;
        let stale = *self.stale.get_or_insert_with(count);
        self.progress.tell(self.made, stale);
    }
}
