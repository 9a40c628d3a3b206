//! Times and durations for people: local, short, with the exact time on hover.

use chrono::{DateTime, Datelike as _, Local, SecondsFormat, TimeZone as _, Utc};
use maud::{Markup, html};

const DAY_MS: i64 = 86_400_000;

fn moment(ms: i64) -> DateTime<Local> {
    Utc.timestamp_millis_opt(ms).single().unwrap_or_default().with_timezone(&Local)
}

/// The exact time, with its zone.
pub(crate) fn exact(ms: i64) -> String {
    moment(ms).format("%Y-%m-%d %H:%M:%S%.3f %:z").to_string()
}

/// The start of a time's local day.
pub(crate) fn midnight(ms: i64) -> i64 {
    let day = moment(ms).date_naive().and_hms_opt(0, 0, 0);
    let start = day.and_then(|naive| Local.from_local_datetime(&naive).earliest());
    start.map_or(ms - ms.rem_euclid(DAY_MS), |start| start.timestamp_millis())
}

/// The time of day.
pub(crate) fn clock(ms: i64) -> String {
    moment(ms).format("%H:%M:%S").to_string()
}

/// The time of day to the minute.
pub(crate) fn minute(ms: i64) -> String {
    moment(ms).format("%H:%M").to_string()
}

/// The day and the time to the minute.
pub(crate) fn day_and_minute(ms: i64) -> String {
    moment(ms).format("%-d %b %H:%M").to_string()
}

/// A short form: the time of day for today, otherwise the date.
fn short(ms: i64, now_ms: i64) -> String {
    let (then, now) = (moment(ms), moment(now_ms));
    let format = if then.date_naive() == now.date_naive() {
        "%H:%M:%S"
    } else if then.year() == now.year() {
        "%-d %b %H:%M"
    } else {
        "%-d %b %Y %H:%M"
    };
    then.format(format).to_string()
}

/// A time on a page.
pub(crate) fn at(ms: i64, now_ms: i64) -> Markup {
    shown(ms, &short(ms, now_ms))
}

/// A time in full, for a page that is about it.
pub(crate) fn full(ms: i64) -> Markup {
    shown(ms, &moment(ms).format("%-d %B %Y, %H:%M:%S").to_string())
}

/// A time of day on a page.
pub(crate) fn at_clock(ms: i64) -> Markup {
    shown(ms, &clock(ms))
}

/// How long ago a time was.
pub(crate) fn ago(ms: i64, now_ms: i64) -> Markup {
    let span = u64::try_from(now_ms - ms).unwrap_or(0);
    shown(ms, &if span < 2000 { "just now".to_owned() } else { format!("{} ago", coarse(span)) })
}

fn shown(ms: i64, text: &str) -> Markup {
    let utc = Utc.timestamp_millis_opt(ms).single().unwrap_or_default();
    html! { time datetime=(utc.to_rfc3339_opts(SecondsFormat::Millis, true)) title=(exact(ms)) { (text) } }
}

/// A duration in its largest unit.
pub(crate) fn coarse(ms: u64) -> String {
    match ms / 1000 {
        0..60 => format!("{} s", ms / 1000),
        60..3600 => format!("{} min", ms / 60_000),
        3600..172_800 => format!("{} h", ms / 3_600_000),
        _ => format!("{} days", ms / 86_400_000),
    }
}

pub(crate) use context_graph_core::audit::duration;

/// Microseconds as milliseconds with two decimals.
pub(crate) fn micros(us: u64) -> String {
    if us < 100_000 { format!("{}.{:02} ms", us / 1000, us % 1000 / 10) } else { duration(us / 1000) }
}
