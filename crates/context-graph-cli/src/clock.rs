//! The one place that reads the clock. Everything else is told the time.

/// Milliseconds since 1970, UTC.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}
