//! LMDB's pages walked in safe code: whether every page that the trees reach is there, is what it should be, and is
//! reached once. LMDB itself trusts its pages, so this comes before a walk through it.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::engine::Table;
use super::lmdb_file::{Meta, TREE_BYTES, Tree, read_metas};
use super::lmdb_page::{BIG, Page, SUBTREE};

const NO_PAGE: u64 = u64::MAX;
/// Deeper than any tree of this size can be.
const MAX_DEPTH: u16 = 32;

enum Flaw {
    Read(io::Error),
    Found(String),
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// Verifies the moment of transaction `txn`, or the newest; says what is wrong.
pub(super) fn verify(file: &File, txn: Option<u64>) -> io::Result<Result<(), String>> {
    let metas = match read_metas(file)? {
        Ok(metas) => metas,
        Err(reason) => return Ok(Err(format!("the file {reason}"))),
    };
    let newest = metas[0].txn.max(metas[1].txn);
    // Transaction n writes meta page n mod 2. Were the newer one misread as older, a whole transaction would vanish.
    let alternate = metas.iter().zip([0, 1]).all(|(meta, page)| meta.txn % 2 == page || meta.txn == 0);
    if !alternate || metas[0].txn.abs_diff(metas[1].txn) > 1 {
        return Ok(Err("the meta pages are not those of two transactions in a row".into()));
    }
    let Some(meta) = metas.into_iter().find(|meta| meta.txn == txn.unwrap_or(newest)) else {
        return Ok(Err("the meta pages are not those of the last transaction".into()));
    };
    let pages = file.metadata()?.len() / meta.page_bytes;
    let mut walk = Walk::new(file, meta, pages);
    match walk.everything() {
        Ok(()) => Ok(Ok(())),
        Err(Flaw::Found(what)) => Ok(Err(what)),
        Err(Flaw::Read(error)) => Err(error),
    }
}

/// How many pages hold nothing in the newest moment, and the size of a page; or what is wrong with the list of them.
pub(super) fn free_pages(file: &File) -> io::Result<Result<(u64, u64), String>> {
    let meta = match read_metas(file)? {
        Ok([first, second]) => {
            if first.txn > second.txn {
                first
            } else {
                second
            }
        }
        Err(reason) => return Ok(Err(format!("the file {reason}"))),
    };
    let pages = file.metadata()?.len() / meta.page_bytes;
    let mut walk = Walk::new(file, meta, pages);
    match walk.tree(meta.free, Kind::Free) {
        Ok(()) => Ok(Ok((walk.free, meta.page_bytes))),
        Err(Flaw::Found(what)) => Ok(Err(what)),
        Err(Flaw::Read(error)) => Err(error),
    }
}

/// Where nothing is on the pages that are used, in bytes of the file, for both moments that it keeps.
pub(super) fn gaps(file: &File) -> io::Result<Result<Vec<Range<u64>>, String>> {
    let metas = match read_metas(file)? {
        Ok(metas) => metas,
        Err(reason) => return Ok(Err(format!("the file {reason}"))),
    };
    let mut found = Vec::new();
    for meta in metas {
        let pages = file.metadata()?.len() / meta.page_bytes;
        let mut walk = Walk::new(file, meta, pages);
        match walk.everything() {
            Ok(()) => found.append(&mut walk.gaps),
            Err(Flaw::Found(what)) => return Ok(Err(what)),
            Err(Flaw::Read(error)) => return Err(error),
        }
    }
    Ok(Ok(found))
}

struct Walk<'a> {
    file: &'a File,
    meta: Meta,
    /// Whole pages in the file.
    pages: u64,
    seen: HashSet<u64>,
    /// Pages on the lists of free ones.
    free: u64,
    /// Where nothing is on the pages that are used, in bytes of the file.
    gaps: Vec<Range<u64>>,
}

/// What the keys and values of a tree are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Transaction numbers and lists of free pages.
    Free,
    /// Names and trees, and what is stored about the store itself.
    Main,
    /// A table.
    Table,
}

/// A walk through one tree.
struct Level {
    kind: Kind,
    last_key: Option<Vec<u8>>,
    separator: Option<Vec<u8>>,
    entries: u64,
}

impl<'a> Walk<'a> {
    fn new(file: &'a File, meta: Meta, pages: u64) -> Self {
        Self { file, meta, pages, seen: HashSet::new(), free: 0, gaps: Vec::new() }
    }

    fn everything(&mut self) -> Result<(), Flaw> {
        self.tree(self.meta.main, Kind::Main)?;
        self.tree(self.meta.free, Kind::Free)
    }

    fn tree(&mut self, tree: Tree, kind: Kind) -> Result<(), Flaw> {
        if tree.root == NO_PAGE {
            return if tree.entries == 0 { Ok(()) } else { found("a tree lost its root") };
        }
        if tree.depth == 0 || tree.depth > MAX_DEPTH {
            return found("a tree has an impossible depth");
        }
        let mut level = Level { kind, last_key: None, separator: None, entries: 0 };
        self.page(tree.root, tree.depth, &mut level)?;
        if level.entries == tree.entries { Ok(()) } else { found("a tree has another number of entries") }
    }

    fn page(&mut self, number: u64, depth: u16, level: &mut Level) -> Result<(), Flaw> {
        let bytes = self.read(number)?;
        let page = Page::parse(&bytes, number, depth)
            .ok_or_else(|| Flaw::Found(format!("page {number} has a damaged header")))?;
        let (start, gap) = (number * self.meta.page_bytes, page.gap());
        self.gaps.push(start + gap.start as u64..start + gap.end as u64);
        let damaged = || Flaw::Found(format!("page {number} has a damaged entry"));
        for at in 0..page.len() {
            let entry = page.entry(at).ok_or_else(damaged)?;
            let (key, flags) = (entry.key, entry.flags);
            if depth > 1 {
                // The first key of a branch is not used: everything smaller goes there.
                if at > 0 {
                    level.separator(key).map_err(|()| damaged())?;
                }
                self.page(entry.child(), depth - 1, level)?;
                continue;
            }
            level.next_key(key).map_err(|()| damaged())?;
            let value = match flags {
                BIG => self.overflow(entry.overflow().ok_or_else(damaged)?, entry.size)?,
                0 | SUBTREE => entry.value().ok_or_else(damaged)?.to_vec(),
                _ => return Err(damaged()),
            };
            match (level.kind, flags & SUBTREE != 0) {
                (Kind::Main, true) if value.len() == TREE_BYTES && is_table(key) => {
                    self.tree(Tree::parse(&value), Kind::Table)?;
                }
                (Kind::Free, false) => self.free_pages(&value)?,
                (Kind::Table, false) => {}
                (Kind::Main, false) if !is_table(key) => {}
                _ => return Err(damaged()),
            }
        }
        Ok(())
    }

    /// Reads a page that nothing has reached yet.
    fn read(&mut self, number: u64) -> Result<Vec<u8>, Flaw> {
        self.claim(number)?;
        if number >= self.pages {
            return found(format!("page {number} is missing"));
        }
        let mut page = vec![0; usize::try_from(self.meta.page_bytes).unwrap_or(0)];
        self.file.read_exact_at(&mut page, number * self.meta.page_bytes)?;
        if word(&page, 0) == number { Ok(page) } else { found(format!("page {number} is another page")) }
    }

    /// A value on pages of its own.
    fn overflow(&mut self, first: u64, size: usize) -> Result<Vec<u8>, Flaw> {
        let head = self.read(first)?;
        let count = (Page::HEADER as u64 + size as u64).div_ceil(self.meta.page_bytes);
        let Some((_, recorded)) = Page::overflow(&head, first).filter(|(_, recorded)| *recorded >= count)
        else {
            return found(format!("page {first} has a damaged header"));
        };
        for number in first + 1..first.saturating_add(recorded) {
            self.claim(number)?;
            if number >= self.pages {
                return found(format!("page {number} is missing"));
            }
        }
        let start = first * self.meta.page_bytes;
        self.gaps.push(start + (Page::HEADER + size) as u64..start + recorded * self.meta.page_bytes);
        let mut value = vec![0; size];
        self.file.read_exact_at(&mut value, first * self.meta.page_bytes + Page::HEADER as u64)?;
        Ok(value)
    }

    /// Pages on a free list are used by nothing else, or the next transaction would overwrite what uses them.
    fn free_pages(&mut self, list: &[u8]) -> Result<(), Flaw> {
        let (words, _) = list.as_chunks::<8>();
        let mut words = words.iter().map(|bytes| u64::from_ne_bytes(*bytes));
        let count = words.next().and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
        if count > words.len() {
            return found("a list of free pages is damaged");
        }
        self.free += count as u64;
        words.take(count).try_for_each(|number| self.claim(number))
    }

    fn claim(&mut self, number: u64) -> Result<(), Flaw> {
        if number < 2 || number > self.meta.last_page {
            return found(format!("page {number} is out of range"));
        }
        if self.seen.insert(number) { Ok(()) } else { found(format!("page {number} is used twice")) }
    }
}

impl Level {
    /// A key must come behind the last one, and not before the separator that leads to it.
    fn next_key(&mut self, key: &[u8]) -> Result<(), ()> {
        self.entries += 1;
        let behind = self.last_key.as_ref().is_none_or(|last| self.is_less(last, key));
        let led_to = self.separator.as_ref().is_none_or(|separator| !self.is_less(key, separator));
        let size = if self.kind == Kind::Free { key.len() == 8 } else { !key.is_empty() };
        self.last_key = Some(key.to_vec());
        if size && behind && led_to { Ok(()) } else { Err(()) }
    }

    /// A separator comes behind all keys to its left.
    fn separator(&mut self, key: &[u8]) -> Result<(), ()> {
        let behind = self.last_key.as_ref().is_none_or(|last| self.is_less(last, key));
        self.separator = Some(key.to_vec());
        if behind { Ok(()) } else { Err(()) }
    }

    fn is_less(&self, left: &[u8], right: &[u8]) -> bool {
        match self.kind {
            Kind::Free if left.len() == 8 && right.len() == 8 => word(left, 0) < word(right, 0),
            _ => left < right,
        }
    }
}

/// A table under another name would be taken for one that is not there yet.
fn is_table(name: &[u8]) -> bool {
    Table::ALL.iter().any(|table| table.name().is_some_and(|known| known.as_bytes() == name))
}

fn found<T>(what: impl Into<String>) -> Result<T, Flaw> {
    Err(Flaw::Found(what.into()))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|index| bytes[at + index]))
}
