//! Shows how long each stage of a hook took (`--timings`). When off, the clock is not read.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::clock;

/// The stages of a hook and when each ended.
#[derive(Debug)]
pub(crate) struct Timings {
    /// `None` when off.
    laps: Option<RefCell<Vec<(&'static str, Instant)>>>,
    /// The time before the first stage.
    start: Duration,
}

impl Timings {
    /// Starts measuring, if wanted.
    pub(crate) fn new(wanted: bool) -> Self {
        if !wanted {
            return Self { laps: None, start: Duration::ZERO };
        }
        // No clock knows the start time of a process to the microsecond. So far this process has not waited for
        // anything, so its processor time is the time since its start.
        let start = clock::processor_time().unwrap_or_default();
        Self { laps: Some(RefCell::new(vec![("", Instant::now())])), start }
    }

    /// Call this at the end of a stage.
    pub(crate) fn mark(&self, stage: &'static str) {
        if let Some(laps) = &self.laps {
            laps.borrow_mut().push((stage, Instant::now()));
        }
    }

    /// The stages and their times, one per line; `None` when off.
    pub(crate) fn report(&self) -> Option<String> {
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
