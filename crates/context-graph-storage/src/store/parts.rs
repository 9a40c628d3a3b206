//! Work on all sessions, shared by several threads: each has a connection of its own and takes some of the numbers.

use std::thread;

use super::Store;
use crate::error::{Result, StorageError};

/// Numbers of sessions, from the first to the last.
pub(super) type Part = (i64, i64);

/// Fewer sessions than this are left to one thread.
const WORTH_A_THREAD: i64 = if cfg!(test) { 2 } else { 2000 };
/// More threads than this would wait for the disk.
const MOST_THREADS: i64 = 8;

impl Store {
    /// Has `own` done here for the first part and `others` by threads for the rest; what they came to, in order.
    pub(super) fn in_parts<T: Send>(
        &self,
        own: impl FnOnce(&Self, Part) -> Result<T>,
        others: impl Fn(&Self, Part) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let parts = self.parts()?;
        let options = &self.options();
        let others = &others;
        thread::scope(|scope| {
            let start = |part: Part| scope.spawn(move || others(&Self::open(options)?, part));
            let started: Vec<_> = parts[1..].iter().copied().map(start).collect();
            let mut done = vec![own(self, parts[0])];
            let gone = || StorageError::InvalidData("a thread has ended early".to_owned());
            done.extend(started.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(gone()))));
            done.into_iter().collect()
        })
    }

    /// All numbers, in about equal parts: one where there is little to do.
    fn parts(&self) -> Result<Vec<Part>> {
        let last: i64 = self.settle(|store| {
            let asked = "SELECT coalesce(max(number), 0) FROM sessions";
            store.connection.query_row(asked, [], |row| row.get(0))
        })?;
        let threads =
            thread::available_parallelism().map_or(1, |count| i64::try_from(count.get()).unwrap_or(1));
        let threads =
            if self.is_in_memory() { 1 } else { threads.min(MOST_THREADS).min(last / WORTH_A_THREAD) };
        let share = last / threads.max(1) + 1;
        // Whatever numbers there are, each belongs to one part.
        let ends = (1..threads).map(|number| number * share).chain([i64::MAX]);
        let mut first = i64::MIN;
        Ok(ends
            .map(|end| {
                let part = (first, end);
                first = end.saturating_add(1);
                part
            })
            .collect())
    }
}
