//! How much time the policies of an event have left.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long a thread that gets no processor is waited for beyond its time.
pub(crate) const WITHHELD: Duration = Duration::from_millis(1500);

/// The time of the thread that runs policies. While a busy machine does not let it run, its time stands still, up to
/// [`WITHHELD`]: else a policy that takes two milliseconds would ask about a call because a compiler runs as well. Where the
/// system does not say how long that was, all time counts.
#[derive(Debug)]
pub(super) struct ThreadTime {
    started: Instant,
    time: Duration,
    /// What Linux tells of the thread's scheduling.
    told: Mutex<Option<File>>,
}

impl ThreadTime {
    /// So much, from now on.
    pub(super) fn new(time: Duration) -> Self {
        Self { started: Instant::now(), time, told: Mutex::new(None) }
    }

    /// All of it.
    pub(super) fn whole(&self) -> Duration {
        self.time
    }

    /// Has the time be that of the calling thread.
    pub(super) fn is_of_this_thread(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) =
            File::open("/proc/thread-self/schedstat").ok();
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Duration {
        (self.time + self.withheld().min(WITHHELD)).saturating_sub(self.started.elapsed())
    }

    /// Whether the thread did not get enough of its time to be judged by what it did in it.
    pub(super) fn was_withheld(&self) -> bool {
        self.left() > self.time / 2
    }

    /// How long the thread was ready to run and got no processor: the second number of three, in nanoseconds.
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
        time.is_of_this_thread();
        assert!(time.left() <= Duration::from_millis(10) + WITHHELD);
    }
}
