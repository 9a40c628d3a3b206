//! How far a long piece of work has come, on stderr, where a person is looking.

use std::io::{IsTerminal as _, Write as _};

/// Below this many sessions nobody has the time to read it.
const WORTH_TELLING: usize = 50;

/// How far the making of tables has come.
#[derive(Debug)]
pub(super) struct Progress {
    watched: bool,
    told: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { watched: std::io::stderr().is_terminal(), told: false }
    }

    /// Says that so many of so many sessions are done.
    pub(super) fn tell(&mut self, done: usize, of: usize) {
        if self.watched && of >= WORTH_TELLING && (done.is_multiple_of(10) || done == of) {
            let _ =
                write!(std::io::stderr(), "\rreading sessions that are new to the index: {done} of {of} ");
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
