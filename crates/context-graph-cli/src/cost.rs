//! What starting a program costs, compared with one that does nothing.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process;

/// The program that does nothing, at its usual paths.
const NOTHING: [&str; 2] = ["/bin/true", "/usr/bin/true"];
/// Longer than any system needs to start it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long `/bin/true` takes; `None` if it is missing.
pub(crate) fn of_nothing() -> Option<Duration> {
    let program = NOTHING.into_iter().find(|path| Path::new(path).exists())?;
    let mut command = Command::new(program);
    command.env_clear();
    let reply = process::ask(command, &[], PATIENCE);
    reply.succeeded().then_some(reply.took)
}

/// The median; `None` if there are no times.
pub(crate) fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}

/// A time in milliseconds, for people.
pub(crate) fn ms(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

/// Appends to a sentence about a hook's time, for comparison.
pub(crate) fn beside(nothing: Option<Duration>) -> String {
    nothing.map(|took| format!("; starting /bin/true takes {}", ms(took))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let times = |ms: &[u64]| ms.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>();
        assert_eq!(median(times(&[9, 1, 5])), Some(Duration::from_millis(5)));
        assert_eq!(median(times(&[])), None);
    }

    #[test]
    fn a_time_is_told_in_milliseconds() {
        assert_eq!(ms(Duration::from_micros(1250)), "1.2 ms");
        assert_eq!(beside(Some(Duration::from_millis(2))), "; starting /bin/true takes 2.0 ms");
        assert_eq!(beside(None), "");
    }
}
