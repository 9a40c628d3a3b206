//! Where the time of a hook went, shown by `--timings`. When off: one look at a flag.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::clock;

/// The stages of a hook and when each was over.
#[derive(Debug)]
pub(crate) struct Timings {
    /// `None` when off.
    laps: Option<RefCell<Vec<(&'static str, Instant)>>>,
    /// What it took until the first stage.
    start: Duration,
}

impl Timings {
    /// Takes the time from now on, where that is wanted.
    pub(crate) fn new(wanted: bool) -> Self {
        if !wanted {
            return Self { laps: None, start: Duration::ZERO };
        }
        // No clock tells to the microsecond when a process was made. But until here it has done nothing but run, so its
        // processor time is what it took to bring it here, our reading of the arguments included.
        let start = clock::processor_time().unwrap_or_default();
        Self { laps: Some(RefCell::new(vec![("", Instant::now())])), start }
    }

    /// A stage is over.
    pub(crate) fn passed(&self, stage: &'static str) {
        if let Some(laps) = &self.laps {
            laps.borrow_mut().push((stage, Instant::now()));
        }
    }

    /// The stages and what they took, a line each; `None` when off.
    pub(crate) fn told(&self) -> Option<String> {
        let laps = self.laps.as_ref()?.borrow();
        let stages = laps.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1));
        let total = self.start + laps.last()?.1.duration_since(laps.first()?.1);
        let mut text = String::new();
        for (stage, took) in [("start", self.start)].into_iter().chain(stages).chain([("total", total)]) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{stage:<12}{:>8} µs", took.as_micros());
        }
        Some(text)
    }
}
