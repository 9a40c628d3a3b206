//! Shows progress of long work on stderr, if it is a terminal.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::Environment;

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_millis(300);

/// A progress bar that appears when needed.
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

    /// Shows nothing if the bar would disturb the work's own output.
    #[must_use]
    pub(crate) fn unless(mut self, disturbing: bool) -> Self {
        self.watched &= !disturbing;
        self
    }

    /// Reports that `done` of `of` steps are finished.
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

    /// Removes the bar.
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
