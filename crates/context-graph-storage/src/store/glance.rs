//! The store looked at without LMDB. Opening a database takes longer than all else that the start of a session does, and
//! a few keys are found with a few reads of its file.
//!
//! LMDB writes a change to pages that neither of its last two commits uses, so what a commit consists of stays as it is
//! until the one after the next. Reading is therefore sound if the meta page that it went by is still there when it is
//! over. Whatever is odd is an error, and the caller opens the store after all: a glance decides nothing about damage.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::ops::{Bound, ControlFlow};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::engine::{Bounds, Engine, Order, Reader, Table, Visitor, Writer};
use super::keyed::KeyedStore;
use super::lmdb_file::{self, Meta, TREE_BYTES, Tree, read_metas};
use super::lmdb_page::{BIG, Entry, Page, SUBTREE};
use crate::error::{IoContext, Result, StorageError};
use crate::quarantine::Quarantine;

/// As many pages are read; whoever needs more should open the store.
const MAX_PAGES: usize = 128;
/// The largest value that is read.
const MAX_VALUE_BYTES: usize = 16 << 20;
/// Deeper than any tree of this size can be.
const MAX_DEPTH: u16 = 32;

impl KeyedStore<GlanceEngine> {
    /// The store in `folder` as far as it can be looked at; an error where it cannot.
    pub fn glance(folder: &Path) -> Result<Self> {
        if lmdb_file::suspicions(folder) > 0 {
            return Err(odd("it is suspected of being damaged"));
        }
        let path = folder.join(lmdb_file::DATA);
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&path);
        let engine = GlanceEngine::new(file.context("open", &path)?, path)?;
        // Nothing is ever put there: what does not check out is an error here.
        Self::new(engine, Quarantine::new(folder))
    }
}

/// The file of an LMDB database that is not opened, as its newest commit left it when it was looked at first.
pub struct GlanceEngine {
    file: File,
    path: PathBuf,
    meta: Meta,
    /// Where each stretch that was read begins, and its bytes; filled from the front.
    read: Vec<OnceCell<(u64, Vec<u8>)>>,
    count: Cell<usize>,
}

impl fmt::Debug for GlanceEngine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GlanceEngine").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Engine for GlanceEngine {
    fn read<T, E: From<StorageError>>(
        &self,
        work: impl FnOnce(&dyn Reader) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let done = work(self)?;
        if self.is_still_there()? { Ok(done) } else { Err(odd("it is being written to").into()) }
    }

    fn write<T, E: From<StorageError>>(
        &self,
        _work: impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        Err(odd("it is only looked at").into())
    }

    fn disk_bytes(&self) -> Result<u64> {
        Ok(self.file.metadata().context("inspect", &self.path)?.len())
    }

    fn used_bytes(&self) -> Result<u64> {
        self.disk_bytes()
    }

    fn scrub(&self) -> Result<u64> {
        Err(odd("it is only looked at"))
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        Err(odd("it is only looked at"))
    }
}

impl GlanceEngine {
    fn new(file: File, path: PathBuf) -> Result<Self> {
        let [even, uneven] = metas(&file, &path)?;
        // A commit is written to the page of its parity.
        if !even.txn.is_multiple_of(2) || uneven.txn.is_multiple_of(2) && uneven.txn != 0 {
            return Err(odd("its meta pages are in disorder"));
        }
        let meta = if even.txn > uneven.txn { even } else { uneven };
        Ok(Self { file, path, meta, read: vec![OnceCell::new(); MAX_PAGES], count: Cell::new(0) })
    }

    fn is_still_there(&self) -> Result<bool> {
        Ok(metas(&self.file, &self.path)?.contains(&self.meta))
    }

    /// The page of that number.
    fn page(&self, number: u64, depth: u16) -> Result<Page<'_>> {
        let length = usize::try_from(self.meta.page_bytes).unwrap_or(usize::MAX);
        let bytes = self.bytes(number, length)?;
        Page::parse(bytes, number, depth).ok_or_else(damaged)
    }

    /// Bytes from the start of a page on.
    fn bytes(&self, number: u64, length: usize) -> Result<&[u8]> {
        let count = self.count.get();
        let known = self.read[..count].iter().filter_map(OnceCell::get);
        if let Some((_, bytes)) = known.into_iter().find(|(at, bytes)| *at == number && bytes.len() == length)
        {
            return Ok(bytes);
        }
        if number < 2 || number > self.meta.last_page {
            return Err(odd("a page is out of range"));
        }
        let slot = self.read.get(count).ok_or_else(|| odd("it takes too many pages"))?;
        let mut bytes = vec![0; length];
        let offset = number.checked_mul(self.meta.page_bytes).ok_or_else(|| odd("a page is out of range"))?;
        self.file.read_exact_at(&mut bytes, offset).context("read", &self.path)?;
        self.count.set(count + 1);
        Ok(&slot.get_or_init(|| (number, bytes)).1)
    }

    fn tree(&self, table: Table) -> Result<Option<Tree>> {
        let Some(name) = table.name() else { return Ok(Some(self.meta.main)) };
        match self.find(self.meta.main, name.as_bytes())? {
            None => Ok(None),
            Some((SUBTREE, value)) if value.len() == TREE_BYTES => Ok(Some(Tree::parse(value))),
            Some(_) => Err(odd("a table is none")),
        }
    }

    fn root(&self, tree: Tree) -> Result<Option<Page<'_>>> {
        if tree.entries == 0 {
            return Ok(None);
        }
        if tree.depth == 0 || tree.depth > MAX_DEPTH {
            return Err(odd("a tree has an impossible depth"));
        }
        self.page(tree.root, tree.depth).map(Some)
    }

    /// Flags and value of a key.
    fn find(&self, tree: Tree, key: &[u8]) -> Result<Option<(u16, &[u8])>> {
        let Some(mut page) = self.root(tree)? else { return Ok(None) };
        for depth in (1..tree.depth).rev() {
            page = self.page(page.child_for(key).ok_or_else(damaged)?, depth)?;
        }
        let at = page.position(key).ok_or_else(damaged)?;
        if at == page.len() {
            return Ok(None);
        }
        let entry = page.entry(at).ok_or_else(damaged)?;
        if entry.key == key { self.value(&entry).map(Some) } else { Ok(None) }
    }

    fn value<'p>(&'p self, entry: &Entry<'p>) -> Result<(u16, &'p [u8])> {
        if entry.flags & BIG == 0 {
            return Ok((entry.flags, entry.value().ok_or_else(damaged)?));
        }
        if entry.size > MAX_VALUE_BYTES {
            return Err(odd("a value is too large"));
        }
        let first = entry.overflow().ok_or_else(damaged)?;
        let bytes = self.bytes(first, Page::HEADER + entry.size)?;
        let (value, _) = Page::overflow(bytes, first).ok_or_else(damaged)?;
        Ok((entry.flags & !BIG, value))
    }

    fn walk(
        &self,
        page: Page<'_>,
        depth: u16,
        bounds: Bounds<'_>,
        order: Order,
        visit: Visitor<'_>,
    ) -> Result<ControlFlow<()>> {
        let count = page.len();
        for step in 0..count {
            let at = if order == Order::Ascending { step } else { count - 1 - step };
            let entry = page.entry(at).ok_or_else(damaged)?;
            let flow = if depth == 1 {
                let only = Bound::Included(entry.key);
                if !meet((only, only), bounds) {
                    continue;
                }
                visit(entry.key, self.value(&entry)?.1)
            } else {
                // A child holds the keys from its own separator to the next one; the first has no lower end.
                let from = if at == 0 { Bound::Unbounded } else { Bound::Included(entry.key) };
                let to = if at + 1 == count {
                    Bound::Unbounded
                } else {
                    Bound::Excluded(page.entry(at + 1).ok_or_else(damaged)?.key)
                };
                if !meet((from, to), bounds) {
                    continue;
                }
                self.walk(self.page(entry.child(), depth - 1)?, depth - 1, bounds, order, visit)?
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Reader for GlanceEngine {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let Some(tree) = self.tree(table)? else { return Ok(None) };
        match self.find(tree, key)? {
            Some((0, value)) => Ok(Some(value)),
            Some(_) => Err(odd("a value is none")),
            None => Ok(None),
        }
    }

    fn scan(&self, table: Table, bounds: Bounds<'_>, order: Order, visit: Visitor<'_>) -> Result<()> {
        let Some(tree) = self.tree(table)? else { return Ok(()) };
        let Some(root) = self.root(tree)? else { return Ok(()) };
        self.walk(root, tree.depth, bounds, order, visit).map(|_| ())
    }

    fn count(&self, table: Table) -> Result<u64> {
        Ok(self.tree(table)?.map_or(0, |tree| tree.entries))
    }
}

/// Whether two ranges of keys may have one in common.
fn meet(left: Bounds<'_>, right: Bounds<'_>) -> bool {
    let ends_before = |end: Bound<&[u8]>, start: Bound<&[u8]>| match (end, start) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(end), Bound::Included(start)) => end < start,
        (Bound::Included(end) | Bound::Excluded(end), Bound::Included(start) | Bound::Excluded(start)) => {
            end <= start
        }
    };
    !ends_before(left.1, right.0) && !ends_before(right.1, left.0)
}

fn metas(file: &File, path: &Path) -> Result<[Meta; 2]> {
    read_metas(file).context("read", path)?.map_err(odd)
}

fn damaged() -> StorageError {
    odd("a page is damaged")
}

fn odd(what: &str) -> StorageError {
    StorageError::database(format!("the store cannot be looked at without opening it: {what}"))
}
