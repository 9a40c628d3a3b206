//! Reads the current date and time, and the processor time of this process. Durations are measured where they are
//! needed.

use std::time::Duration;

/// Milliseconds since 1970, UTC.
#[expect(clippy::disallowed_methods, reason = "only this file reads the clock")]
pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// Processor time of this process since its start, user and system. `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn processor_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::ProcessCPUTime).try_into().ok()
}

#[cfg(not(unix))]
pub(crate) fn processor_time() -> Option<Duration> {
    None
}
