//! Progress of long work, on stderr, if it is a terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::Environment;

/// Work that is done sooner is not worth a line.
const PATIENCE: Duration = Duration::from_millis(300);

/// A bar that comes, grows and goes.
#[derive(Debug)]
pub(crate) struct Progress {
    doing: &'static str,
    watched: bool,
    due: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(doing: &'static str) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self { doing, watched, due: Instant::now() + PATIENCE, bar: None }
    }

    /// Says nothing where the work's own output is what is looked at.
    #[must_use]
    pub(crate) fn unless(mut self, disturbing: bool) -> Self {
        self.watched &= !disturbing;
        self
    }

    /// Says that so many of so many are done.
    pub(crate) fn tell(&mut self, done: u64, of: u64) {
        if !self.watched || Instant::now() < self.due {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{msg} {wide_bar} {human_pos} of {human_len}, {eta} left");
            let bar = ProgressBar::new(of).with_message(self.doing);
            let signs = if Environment::reads_unicode() { "█░" } else { "#." };
            style.map_or(bar.clone(), |style| bar.with_style(style.progress_chars(signs)))
        });
        bar.set_length(of);
        bar.set_position(done);
    }

    /// Takes the bar away again.
    pub(crate) fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done();
    }
}
