//! Where the time of a hook went, for those who ask with `--timings`. Who does not ask pays for a flag that is looked at.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::clock;

static WANTED: AtomicBool = AtomicBool::new(false);
static LAPS: Mutex<Vec<(&str, Instant)>> = Mutex::new(Vec::new());
static START: Mutex<Option<Duration>> = Mutex::new(None);

/// From now on the time is taken.
pub(crate) fn want() {
    WANTED.store(true, Ordering::Relaxed);
    // No clock tells to the microsecond when a process was made. But until here it has done nothing but run, so its
    // processor time is what it took to bring it here, our reading of the arguments included.
    if let Ok(mut before) = START.lock() {
        *before = clock::processor_time();
    }
    passed("");
}

/// A stage is over.
pub(crate) fn passed(stage: &'static str) {
    if WANTED.load(Ordering::Relaxed)
        && let Ok(mut laps) = LAPS.lock()
    {
        laps.push((stage, Instant::now()));
    }
}

/// The stages and what they took, a line each; none where nobody asked.
pub(crate) fn told() -> Option<String> {
    if !WANTED.load(Ordering::Relaxed) {
        return None;
    }
    let laps = LAPS.lock().ok()?;
    let start = START.lock().ok()?.unwrap_or_default();
    let stages = laps.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1));
    let total = start + laps.last()?.1.duration_since(laps.first()?.1);
    let mut text = String::new();
    for (stage, took) in [("start", start)].into_iter().chain(stages).chain([("total", total)]) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{stage:<12}{:>8} µs", took.as_micros());
    }
    Some(text)
}
