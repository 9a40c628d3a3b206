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
fn of_nothing() -> Option<Duration> {
    let program = NOTHING.into_iter().find(|path| Path::new(path).exists())?;
    let mut command = Command::new(program);
    command.env_clear();
    let reply = process::ask(command, &[], PATIENCE);
    reply.succeeded().then_some(reply.took)
}

/// The median; `None` if there are no times.
fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}

/// A time in milliseconds, for people.
fn ms(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

/// The times of a hook, each next to one of a program that does nothing.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    /// One run of the hook and, directly after it, one of the other program, so that a busy machine slows both.
    pairs: Vec<(Duration, Option<Duration>)>,
}

impl Costs {
    /// Adds a run of a hook, and runs the program that does nothing.
    pub(crate) fn took(&mut self, hook: Duration) {
        self.pairs.push((hook, of_nothing()));
    }

    /// The median of the hook: how long callers wait for it on this machine, busy or not.
    pub(crate) fn median(&self) -> Option<Duration> {
        median(self.pairs.iter().map(|(hook, _)| *hook).collect())
    }

    /// The fastest run of each and their ratio, as part of a sentence. Other programs that run at the same
    /// time can only make a run slower, so the fastest run says most about this program.
    pub(crate) fn summary(&self) -> String {
        let hook = self.pairs.iter().map(|(hook, _)| *hook).min().unwrap_or_default();
        let nothing =
            self.pairs.iter().filter_map(|(_, nothing)| *nothing).min().filter(|took| !took.is_zero());
        let beside = nothing.map(|nothing| {
            let times = hook.as_secs_f64() / nothing.as_secs_f64();
            format!(", {times:.1} times /bin/true ({})", ms(nothing))
        });
        format!("{} at best{}", ms(hook), beside.unwrap_or_default())
    }
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
    fn the_quickest_runs_are_told_in_milliseconds() {
        assert_eq!(ms(Duration::from_micros(1250)), "1.2 ms");
        let of = |pairs: &[(u64, Option<u64>)]| {
            let ms = Duration::from_millis;
            let pairs = pairs.iter().map(|(hook, nothing)| (ms(*hook), nothing.map(ms))).collect();
            Costs { pairs }
        };
        let busy = of(&[(9, Some(2)), (3, Some(7)), (40, Some(30))]);
        assert_eq!(busy.summary(), "3.0 ms at best, 1.5 times /bin/true (2.0 ms)");
        assert_eq!(of(&[(3, None)]).summary(), "3.0 ms at best");
    }
}
