//! Work on all sessions by several threads. Each has its own connection and takes the next range of session numbers
//! when it is done with one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Store;
use crate::error::{Result, StorageError};

/// A range of session numbers, first and last.
pub(super) type Part = (i64, i64);

/// With fewer sessions than this, one thread does everything.
const WORTH_A_THREAD: i64 = if cfg!(test) { 2 } else { 2000 };
/// More threads than this would only wait for the disk.
const MOST_THREADS: i64 = 8;
/// Parts per thread, so that none waits long for a slow one.
const PARTS_A_THREAD: i64 = 8;

impl Store {
    /// Runs `own` on this thread and `others` on further threads until all parts are done. Returns the results in the
    /// order of the parts. One of the further threads first runs `before`, which takes as long as many parts.
    pub(super) fn in_parts<B: Send, T: Send>(
        &self,
        before: impl FnOnce() -> B + Send,
        mut own: impl FnMut(&Self, Part) -> Result<T>,
        others: impl Fn(&Self, Part) -> Result<T> + Sync,
    ) -> Result<(B, Vec<T>)> {
        let (threads, parts) = self.parts()?;
        let (options, next) = (&self.options(), &AtomicUsize::new(0));
        let take = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            parts.get(at).map(|part| (at, *part))
        };
        let (take, others) = (&take, &others);
        let help = move || -> Result<Vec<(usize, T)>> {
            let mine = std::iter::from_fn(take);
            let store = Self::open(options)?;
            mine.map(|(at, part)| Ok((at, others(&store, part)?))).collect()
        };
        let gone = || StorageError::InvalidData("a thread has ended early".to_owned());
        thread::scope(|scope| {
            let first = scope.spawn(move || (before(), if threads > 1 { help() } else { Ok(Vec::new()) }));
            let started: Vec<_> = (2..threads).map(|_| scope.spawn(help)).collect();
            let mine = std::iter::from_fn(take);
            let mut done: Vec<(usize, T)> =
                mine.map(|(at, part)| Ok((at, own(self, part)?))).collect::<Result<_>>()?;
            let (before, helped) = first.join().map_err(|_| gone())?;
            done.extend(helped?);
            for thread in started {
                done.extend(thread.join().unwrap_or_else(|_| Err(gone()))?);
            }
            done.sort_by_key(|(at, _)| *at);
            Ok((before, done.into_iter().map(|(_, result)| result).collect()))
        })
    }

    /// Splits the numbers into about equal parts, one for each thread that is worth starting.
    fn parts(&self) -> Result<(i64, Vec<Part>)> {
        let last: i64 = self.run(|store| {
            let asked = "SELECT coalesce(max(number), 0) FROM sessions";
            store.connection.query_row(asked, [], |row| row.get(0))
        })?;
        let threads =
            thread::available_parallelism().map_or(1, |count| i64::try_from(count.get()).unwrap_or(1));
        let threads =
            if self.is_in_memory() { 1 } else { threads.min(MOST_THREADS).min(last / WORTH_A_THREAD) };
        let count = if threads > 1 { threads * PARTS_A_THREAD } else { 1 };
        let share = last / count + 1;
        // Whatever numbers there are, each belongs to one part.
        let ends = (1..count).map(|number| number * share).chain([i64::MAX]);
        let mut first = i64::MIN;
        let parts = ends
            .map(|end| {
                let part = (first, end);
                first = end.saturating_add(1);
                part
            })
            .collect();
        Ok((threads, parts))
    }
}
