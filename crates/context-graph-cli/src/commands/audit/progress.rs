//! How far a long piece of work has come, on stderr, where a person is looking.

use std::io::{IsTerminal as _, Write as _};

use context_graph_storage::audit_index::Trail;
use context_graph_storage::store::SessionEntry;

/// Before this many sessions nobody has the time to read it.
const WORTH_TELLING: usize = 50;

/// How far the making of tables has come.
#[derive(Debug)]
pub(super) struct Progress {
    watched: bool,
    told: bool,
    /// How many sessions had to be read.
    made: usize,
    /// How many there are to read, at most; known once it is told.
    stale: Option<usize>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { watched: std::io::stderr().is_terminal(), told: false, made: 0, stale: None }
    }

    /// Takes note that a session is looked at, and tells if it has to be read for it.
    pub(super) fn look(&mut self, trail: &Trail<'_>, entry: &SessionEntry) {
        if !self.watched || trail.is_fresh(entry) {
            return;
        }
        self.made += 1;
        if self.made < WORTH_TELLING || !self.made.is_multiple_of(10) {
            return;
        }
        let before = self.made - 1;
        let count = || before + trail.sessions().iter().filter(|entry| !trail.is_fresh(entry)).count();
        let stale = *self.stale.get_or_insert_with(count);
        let made = self.made;
        let _ = write!(std::io::stderr(), "\rreading sessions that are new to the index: {made} of {stale} ");
        self.told = true;
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
