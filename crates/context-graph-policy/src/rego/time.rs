//! How much time the policies of an event have left.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait beyond its time for a thread that gets no processor.
pub(crate) const WITHHELD: Duration = Duration::from_millis(1500);

/// The time of the thread that runs policies. While a busy machine does not run it, its time stands still, up
/// to [`WITHHELD`]. Otherwise a policy that takes two milliseconds could exceed its time just because a compiler is
/// also running, and the user would be asked about the call. If the system does not report the waiting time, all time
/// counts.
#[derive(Debug)]
pub(super) struct ThreadTime {
    started: Instant,
    time: Duration,
    /// Linux's scheduling statistics of the thread.
    told: Mutex<Option<File>>,
}

impl ThreadTime {
    /// This much time, from now on.
    pub(super) fn new(time: Duration) -> Self {
        Self { started: Instant::now(), time, told: Mutex::new(None) }
    }

    /// The whole time.
    pub(super) fn whole(&self) -> Duration {
        self.time
    }

    /// Measures the calling thread from now on.
    pub(super) fn measure_this_thread(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) =
            File::open("/proc/thread-self/schedstat").ok();
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        (self.time + self.withheld().min(WITHHELD)).saturating_sub(self.started.elapsed())
    }

    /// Whether the thread could use less than half of its time. Then a time limit says nothing about the policy.
    pub(super) fn was_withheld(&self) -> bool {
        self.left() > self.time / 2
    }

    /// How long the thread was ready but got no processor: the second of three numbers, in nanoseconds.
    fn withheld(&self) -> Duration {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let read = told.as_mut().and_then(|file| {
            let mut text = String::new();
            file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
            text.split(' ').nth(1)?.parse().ok()
        });
        Duration::from_nanos(read.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_the_thread_was_not_let_run_does_not_count() {
        let time = ThreadTime::new(Duration::from_millis(100));
        let told = std::env::temp_dir().join(format!("context-graph-schedstat-{}", std::process::id()));
        std::fs::write(&told, "5000000 80000000 12\n").unwrap();
        *time.told.lock().unwrap() = Some(File::open(&told).unwrap());
        std::fs::remove_file(&told).unwrap();
        std::thread::sleep(Duration::from_millis(110));
        assert!(time.left() > Duration::ZERO && time.withheld() == Duration::from_millis(80));
        *time.told.lock().unwrap() = None;
        assert_eq!(time.left(), Duration::ZERO);
    }

    #[test]
    fn no_more_than_so_much_is_given_back() {
        let time = ThreadTime::new(Duration::from_millis(10));
        time.measure_this_thread();
        assert!(time.left() <= Duration::from_millis(10) + WITHHELD);
    }
}
