//! How far an export has come, for a person who waits.

use std::io::{self, IsTerminal as _, Write as _};

/// A line on stderr, where that is a terminal.
pub(super) struct Progress {
    total: usize,
    done: usize,
    shown: bool,
}

impl Progress {
    /// Shows nothing where the export itself is what is looked at.
    pub(super) fn new(total: usize, exporting_to_stdout: bool) -> Self {
        let disturbs = exporting_to_stdout && io::stdout().is_terminal();
        Self { total, done: 0, shown: total > 1 && io::stderr().is_terminal() && !disturbs }
    }

    /// One more session is done.
    pub(super) fn step(&mut self) {
        self.done += 1;
        let before = (self.done - 1) * 100 / self.total;
        let percent = self.done * 100 / self.total;
        if self.shown && percent > before {
            let _ = write!(io::stderr(), "\r{percent:>3} % of {} sessions", self.total);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.done > 0 {
            let _ = writeln!(io::stderr());
        }
    }
}
