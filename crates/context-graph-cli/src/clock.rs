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
pub(crate) fn processor_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ProcessCPUTime).try_into().ok()
}

#[cfg(not(unix))]
pub(crate) fn processor_time() -> Option<Duration> {
    None
}
