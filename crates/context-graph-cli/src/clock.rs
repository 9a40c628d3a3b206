//! The one place that reads the clock. Everything else is told the time.

use std::time::Duration;

/// Milliseconds since 1970, UTC.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// How long this process has kept a processor busy since it was made, the system's work for it included. None where that
/// cannot be told.
#[cfg(unix)]
#[expect(unsafe_code, reason = "this clock is only to be had from libc")]
pub(crate) fn processor_time() -> Option<Duration> {
    let mut spent = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the answer is ours and outlives the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut spent) };
    let (seconds, nanos) = (u64::try_from(spent.tv_sec).ok()?, u32::try_from(spent.tv_nsec).ok()?);
    (failed == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
pub(crate) fn processor_time() -> Option<Duration> {
    None
}
