//! Points in time, as people write and read them. Everything is stored in UTC; local time is only for display.

use chrono::{DateTime, Datelike as _, Days, Local, NaiveDate, NaiveDateTime, SecondsFormat, TimeZone, Utc};

/// Parses a time that a person wrote: a span before now (`90s`, `15m`, `2h`, `3d`, `2w`), a date, or a date
/// and time.
pub(crate) fn parse(text: &str, now_ms: i64) -> Result<i64, String> {
    let text = text.trim();
    if let Some(ms) = span(text) {
        return Ok(now_ms.saturating_sub(ms));
    }
    if let Some(days) = ["today", "yesterday"].iter().position(|word| *word == text) {
        let day = moment(now_ms).date_naive() - Days::new(days as u64);
        let midnight =
            day.and_hms_opt(0, 0, 0).and_then(|naive| Local.from_local_datetime(&naive).earliest());
        return Ok(midnight.map_or(now_ms, |moment| moment.timestamp_millis()));
    }
    if let Ok(moment) = DateTime::parse_from_rfc3339(text) {
        return Ok(moment.timestamp_millis());
    }
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S")
        .or_else(|_| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M"))
        .ok()
        .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0));
    local
        .and_then(|naive| Local.from_local_datetime(&naive).earliest())
        .map(|moment| moment.timestamp_millis())
        .ok_or_else(|| {
            format!(
                "`{text}` is not a time: write a span (2h, 3d), `today`, `yesterday`, a date (2026-11-01) or 2026-11-01T10:00:00Z"
            )
        })
}

fn span(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|n| *n >= 0)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    number.checked_mul(seconds * 1000)
}

fn moment(ms: i64) -> DateTime<Local> {
    Utc.timestamp_millis_opt(ms).single().unwrap_or_default().with_timezone(&Local)
}

/// Date and time, local.
pub(crate) fn local(ms: i64) -> String {
    moment(ms).format("%Y-%m-%d %H:%M:%S").to_string()
}

/// A short form: the time of day for today, day and minute for this year, otherwise the date.
pub(crate) fn local_short(ms: i64, now_ms: i64) -> String {
    let (moment, now) = (moment(ms), moment(now_ms));
    let format = if moment.date_naive() == now.date_naive() {
        "%H:%M:%S"
    } else if moment.year() == now.year() {
        "%m-%d %H:%M"
    } else {
        "%Y-%m-%d"
    };
    moment.format(format).to_string()
}

/// Only the time of day.
pub(crate) fn local_clock(ms: i64) -> String {
    moment(ms).format("%H:%M:%S%.3f").to_string()
}

/// Date and time in UTC, for programs.
pub(crate) fn utc(ms: i64) -> String {
    let moment = Utc.timestamp_millis_opt(ms).single().unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_back_from_now() {
        assert_eq!(parse("2h", 10_000_000), Ok(10_000_000 - 7_200_000));
        assert_eq!(parse("0s", 5), Ok(5));
        assert_eq!(parse("3d", 0), Ok(-259_200_000));
    }

    #[test]
    fn today_and_yesterday_begin_at_midnight() {
        let now_ms = 1_793_527_200_000;
        let (today, yesterday) = (parse("today", now_ms).unwrap(), parse("yesterday", now_ms).unwrap());
        assert!(local(today).ends_with(" 00:00:00") && local(yesterday).ends_with(" 00:00:00"));
        assert_eq!(local(today)[..10], local(now_ms)[..10]);
        assert!(yesterday < today && now_ms - yesterday < 49 * 3_600_000, "{}", local(yesterday));
    }

    #[test]
    fn a_moment_of_another_year_is_shown_with_its_year() {
        let now_ms = 1_793_527_200_000;
        assert_eq!(local_short(now_ms, now_ms).len(), 8);
        assert_eq!(local_short(now_ms - 40 * 86_400_000, now_ms).len(), 11);
        assert!(local_short(now_ms - 400 * 86_400_000, now_ms).starts_with("2025-"));
    }

    #[test]
    fn what_is_written_for_programs_is_read_back() {
        assert_eq!(utc(1_793_527_200_001), "2026-11-01T10:00:00.001Z");
        assert_eq!(parse(&utc(1_793_527_200_001), 0), Ok(1_793_527_200_001));
    }

    #[test]
    fn dates_are_understood_and_nonsense_is_refused() {
        assert_eq!(parse("2026-11-01T10:00:00Z", 0), Ok(1_793_527_200_000));
        assert!(parse("2026-11-01", 0).is_ok());
        for nonsense in ["", "soon", "5", "-3h", "2026-13-01", "99999999999999999999d"] {
            assert!(parse(nonsense, 0).is_err(), "{nonsense}");
        }
    }
}
