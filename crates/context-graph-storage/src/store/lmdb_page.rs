//! One page of an LMDB tree, read in safe code.
//!
//! ```text
//! number 8 │ pad 2 │ flags 2 │ lower 2 │ upper 2 │ where the entries are, 2 each … │ gap │ entries …
//! entry:   size 4 │ flags 2 │ length of the key 2 │ key │ value, or the number of the page where it begins
//! ```

use std::ops::Range;

const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const ENTRY_HEADER: usize = 8;

/// Flag of an entry whose value stands on pages of its own.
pub(super) const BIG: u16 = 1;
/// Flag of an entry that is a table.
pub(super) const SUBTREE: u16 = 2;

/// A page whose header checks out.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    bytes: &'a [u8],
    lower: usize,
    upper: usize,
}

/// An entry of a page.
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    pub(super) flags: u16,
    /// Length of the value; in a branch, part of the child's number.
    pub(super) size: usize,
    rest: &'a [u8],
}

impl<'a> Page<'a> {
    /// Bytes before the first entry.
    pub(super) const HEADER: usize = 16;

    /// The page `number` in a tree, `depth` steps above nothing; none when it is another one or damaged.
    pub(super) fn parse(bytes: &'a [u8], number: u64, depth: u16) -> Option<Self> {
        let expected = if depth == 1 { LEAF } else { BRANCH };
        let (lower, upper) = (usize::from(short(bytes, 12)?), usize::from(short(bytes, 14)?));
        let bounds =
            Self::HEADER <= lower && lower <= upper && upper <= bytes.len() && lower.is_multiple_of(2);
        let whole = word(bytes, 0)? == number && short(bytes, 10)? == expected && bounds;
        whole.then_some(Self { bytes, lower, upper })
    }

    /// A value on pages of its own, of which `bytes` are the beginning, and how many pages it has; none when there is none.
    pub(super) fn overflow(bytes: &'a [u8], number: u64) -> Option<(&'a [u8], u64)> {
        let whole = word(bytes, 0)? == number && short(bytes, 10)? == OVERFLOW;
        let pages = bytes.get(12..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))?;
        whole.then_some((bytes.get(Self::HEADER..)?, pages.into()))
    }

    /// How many entries it has.
    pub(super) fn len(self) -> usize {
        (self.lower - Self::HEADER) / 2
    }

    /// Where nothing is on the page.
    pub(super) fn gap(self) -> Range<usize> {
        self.lower..self.upper
    }

    /// An entry of the page; none when it is damaged.
    pub(super) fn entry(self, at: usize) -> Option<Entry<'a>> {
        let places = self.bytes.get(Self::HEADER..self.lower)?;
        let start = usize::from(short(places, 2 * at)?);
        let (header, rest) =
            self.bytes.get(start..).filter(|_| start >= self.upper)?.split_at_checked(ENTRY_HEADER)?;
        let size = usize::from(short(header, 0)?) | usize::from(short(header, 2)?) << 16;
        let (key, rest) = rest.split_at_checked(usize::from(short(header, 6)?))?;
        Some(Entry { key, flags: short(header, 4)?, size, rest })
    }

    /// The child of a branch that holds `key`, if any does. The first one's own key means nothing.
    pub(super) fn child_for(self, key: &[u8]) -> Option<u64> {
        let behind = self.partition(1, |separator| separator <= key)?;
        Some(self.entry(behind - 1)?.child())
    }

    /// The first entry of a leaf that does not come before `key`, or as many as there are.
    pub(super) fn position(self, key: &[u8]) -> Option<usize> {
        self.partition(0, |other| other < key)
    }

    /// The first entry from `from` on that is not `before`.
    fn partition(self, from: usize, before: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let (mut low, mut high) = (from, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if before(self.entry(middle)?.key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(low)
    }
}

impl<'a> Entry<'a> {
    /// The number of a branch's child.
    pub(super) fn child(&self) -> u64 {
        self.size as u64 | u64::from(self.flags) << 32
    }

    /// The value that stands here; none when it is damaged.
    pub(super) fn value(&self) -> Option<&'a [u8]> {
        self.rest.get(..self.size)
    }

    /// The page where the value begins; none when it is damaged.
    pub(super) fn overflow(&self) -> Option<u64> {
        word(self.rest, 0)
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}
