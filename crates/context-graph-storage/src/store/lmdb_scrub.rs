//! Writing zeros over what was removed.
//!
//! LMDB keeps a removed value on its page until the page is used again, and fills the gaps of a new page with whatever its
//! buffer held before. So the gaps of the pages in use are zeroed in the file, which nobody reads there; and the free
//! pages are used once, for nothing, and freed again, by LMDB itself, which knows what a reader still needs.
//!
//! Only right after opening: later its buffers hold what was read.

use std::fs::{File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;

use super::engine::{Engine, Order, Table, Writer};
use super::lmdb::LmdbEngine;
use super::{keys, lmdb_file, lmdb_pages};
use crate::error::{IoContext, Result, StorageError};

/// Keys of the fillers, which no reader of the store takes for its own.
const FILLER: &[u8] = b"scrub:";
/// Pages written in one transaction: others wait for it no longer than for an ordinary one.
const PAGES_AT_ONCE: u64 = 256;
/// A value with its header fills this much of a page.
const PAGE_HEADER: u64 = 16;

impl LmdbEngine {
    /// Pages that hold nothing, and the size of one.
    pub(super) fn free_pages(&self) -> Result<(u64, u64)> {
        let path = self.folder().join(lmdb_file::DATA);
        let file = File::open(&path).context("open", &path)?;
        match lmdb_pages::free_pages(&file).context("read", &path)? {
            Ok(free) => Ok(free),
            Err(problem) => Err(StorageError::database(problem)),
        }
    }

    /// Writes zeros where nothing is; returns how many free pages that took.
    pub(super) fn scrub(&self) -> Result<u64> {
        self.write(|_| self.zero_gaps())?;
        // Two transactions, so that neither of the two moments that LMDB keeps is one of before the removal.
        self.write(remove_fillers)?;
        self.write(|writer| writer.put(Table::Meta, FILLER, b""))?;
        let (free, page_bytes) = self.free_pages()?;
        let zeros = vec![0; usize::try_from(page_bytes.saturating_sub(PAGE_HEADER)).unwrap_or(0)];
        let key = |number: u64| [FILLER, &number.to_be_bytes()].concat();
        for first in (0..free).step_by(usize::try_from(PAGES_AT_ONCE).unwrap_or(1)) {
            self.write(|writer| {
                (first..free.min(first + PAGES_AT_ONCE))
                    .try_for_each(|number| writer.put(Table::Meta, &key(number), &zeros))
            })?;
        }
        self.write(remove_fillers)?;
        Ok(free)
    }

    /// The caller is the only writer for as long as this takes.
    fn zero_gaps(&self) -> Result<()> {
        let path = self.folder().join(lmdb_file::DATA);
        let file = OpenOptions::new().read(true).write(true).open(&path).context("open", &path)?;
        let gaps = lmdb_pages::gaps(&file).context("read", &path)?.map_err(StorageError::database)?;
        for gap in gaps {
            let zeros = vec![0; usize::try_from(gap.end.saturating_sub(gap.start)).unwrap_or(0)];
            file.write_all_at(&zeros, gap.start).context("write", &path)?;
        }
        file.sync_data().context("sync", &path)
    }
}

/// All of them, also those of a process that died over it.
fn remove_fillers(writer: &mut dyn Writer) -> Result<()> {
    let mut fillers = Vec::new();
    let end = keys::prefix_end(FILLER);
    writer.scan(Table::Meta, keys::between(FILLER, end.as_deref()), Order::Ascending, &mut |key, _| {
        fillers.push(key.to_vec());
        ControlFlow::Continue(())
    })?;
    fillers.iter().try_for_each(|key| writer.delete(Table::Meta, key).map(drop))
}
