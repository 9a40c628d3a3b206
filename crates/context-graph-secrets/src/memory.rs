//! Remembers recognised secrets, so that they are recognised later without their name, position or prefix.
//!
//! Only keyed hashes of a secret are kept: one of its longest run of letters and digits (the anchor), which the
//! scan uses to find candidates, and one of the whole secret, which confirms them. Lengths and the kind are
//! stored in the clear.

use super::bytes::{ALNUM, DIGIT, LOWER, SPACE, UPPER, all, is, run};
use super::kind::Kind;
use super::marker::hash_of;
use super::scan::Hit;

/// How many secrets are remembered. Beyond that the oldest are dropped.
const MOST: usize = 64;

/// The shortest and longest secret that is remembered, in bytes.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=1024;

/// How far into a secret its anchor may begin.
const REACH: usize = 64;

/// The shortest anchor: a shorter one would match everywhere.
const ANCHOR: usize = 5;

/// The size of one stored secret, in bytes.
const STORED: usize = 21;

/// What is stored of one secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    /// The anchor's offset in the secret, and its length.
    offset: u8,
    anchor_length: u16,
    length: u16,
    kind: u32,
    anchor: u32,
    whole: u64,
}

/// The secrets recognised in a session, as keyed hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    seen: Vec<Seen>,
    /// A bit set of the anchors' lengths; the last bit is for all longer ones.
    lengths: u64,
    /// How many were added since it was read.
    fresh: usize,
}

impl Memory {
    /// Reads a stored memory. What cannot be decoded is dropped.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (stored, _) = bytes.as_chunks::<STORED>();
        let mut memory = Self { seen: stored.iter().map(Seen::read).collect(), ..Self::default() };
        memory.bound();
        memory
    }

    /// The memory in its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.seen.iter().flat_map(Seen::write).collect()
    }

    /// What was added since the memory was made or read, in its stored form.
    pub fn fresh_bytes(&self) -> Vec<u8> {
        let known = self.seen.len().saturating_sub(self.fresh);
        self.seen.iter().skip(known).flat_map(Seen::write).collect()
    }

    /// Adds the secrets of another memory.
    pub fn merge(&mut self, other: &Self) {
        for seen in &other.seen {
            self.push(*seen);
        }
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// How many secrets were added since the memory was made or read.
    pub(super) fn noted(&self) -> usize {
        self.fresh
    }

    /// Adds a secret, if it can be distinguished from ordinary text.
    pub(super) fn note(&mut self, key: &[u8; 32], kind: Kind, secret: &[u8]) {
        let Some((from, to)) = anchor_of(secret).filter(|_| is_telling(secret)) else { return };
        let (Ok(offset), Ok(anchor_length), Ok(length)) =
            (u8::try_from(from), u16::try_from(to - from), u16::try_from(secret.len()))
        else {
            return;
        };
        let anchor = anchor_hash(key, &secret[from..to]);
        let whole = whole_hash(key, secret);
        self.push(Seen { offset, anchor_length, length, kind: kind.stable(), anchor, whole });
    }

    fn push(&mut self, seen: Seen) {
        if self.seen.iter().any(|other| other.whole == seen.whole) {
            return;
        }
        self.seen.push(seen);
        self.fresh += 1;
        self.bound();
    }

    fn bound(&mut self) {
        self.seen.drain(..self.seen.len().saturating_sub(MOST));
        self.lengths = self.seen.iter().fold(0, |lengths, seen| lengths | bit(seen.anchor_length.into()));
    }

    /// Whether a run of letters and digits of this length can be the anchor of a secret.
    #[inline]
    pub(super) fn may_know(&self, length: usize) -> bool {
        self.lengths & bit(length) != 0
    }

    /// The remembered secret whose anchor is `from..to`. `budget` limits how many bytes may be hashed without a
    /// match: a hostile text can consist of anchors only.
    pub(super) fn find(
        &self,
        key: &[u8; 32],
        bytes: &[u8],
        (from, to): (usize, usize),
        budget: &mut usize,
    ) -> Option<Hit> {
        let fits = |seen: &&Seen| usize::from(seen.anchor_length) == to - from;
        self.seen.iter().find(fits)?;
        let anchor = anchor_hash(key, bytes.get(from..to)?);
        for seen in self.seen.iter().filter(|seen| fits(seen) && seen.anchor == anchor) {
            let Some(start) = from.checked_sub(seen.offset.into()) else { continue };
            let end = start + usize::from(seen.length);
            let Some(text) = bytes.get(start..end).filter(|text| text.len() <= *budget) else { continue };
            if whole_hash(key, text) == seen.whole {
                let kind = Kind::of_stable(seen.kind).unwrap_or(Kind::SECRET);
                return Some(Hit { start, end, kind });
            }
            *budget -= text.len();
        }
        None
    }
}

impl Seen {
    fn write(&self) -> [u8; STORED] {
        let mut bytes = [0; STORED];
        bytes[0] = self.offset;
        bytes[1..3].copy_from_slice(&self.anchor_length.to_le_bytes());
        bytes[3..5].copy_from_slice(&self.length.to_le_bytes());
        bytes[5..9].copy_from_slice(&self.kind.to_le_bytes());
        bytes[9..13].copy_from_slice(&self.anchor.to_le_bytes());
        bytes[13..].copy_from_slice(&self.whole.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8; STORED]) -> Self {
        Self {
            offset: bytes[0],
            anchor_length: u16::from_le_bytes(field(bytes, 1)),
            length: u16::from_le_bytes(field(bytes, 3)),
            kind: u32::from_le_bytes(field(bytes, 5)),
            anchor: u32::from_le_bytes(field(bytes, 9)),
            whole: u64::from_le_bytes(field(bytes, 13)),
        }
    }
}

/// The bytes from here on; zeros if there are not enough.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

const fn bit(length: usize) -> u64 {
    1 << if length < 63 { length } else { 63 }
}

/// The longest run of letters and digits that starts near the secret's beginning.
fn anchor_of(secret: &[u8]) -> Option<(usize, usize)> {
    let mut best = (0, 0);
    let mut at = 0;
    while at < secret.len().min(REACH) {
        let to = run(secret, at, ALNUM, usize::MAX);
        if to - at > best.1 - best.0 {
            best = (at, to);
        }
        at = to + 1;
    }
    (best.1 - best.0 >= ANCHOR).then_some(best)
}

/// Whether the secret differs enough from ordinary words and numbers.
fn is_telling(secret: &[u8]) -> bool {
    let has = |set| secret.iter().any(|&byte| is(byte, set));
    let lone_word =
        all(secret, LOWER) || all(secret, UPPER) || is(secret[0], UPPER) && all(&secret[1..], LOWER);
    let words = has(SPACE) && secret.len() >= 16;
    let mixed = has(DIGIT) && !all(secret, DIGIT) || has(LOWER) && has(UPPER) || !all(secret, ALNUM);
    LENGTHS.contains(&secret.len()) && (words || mixed && !lone_word || secret.len() >= 16)
}

fn anchor_hash(key: &[u8; 32], anchor: &[u8]) -> u32 {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"anchor").update(anchor);
    u32::from_le_bytes(field(hasher.finalize().as_bytes(), 0))
}

/// Uses other bytes of the hash than the fingerprint in the marker.
fn whole_hash(key: &[u8; 32], secret: &[u8]) -> u64 {
    u64::from_le_bytes(field(&hash_of(key, secret), 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_read_as_it_was_written() {
        let mut memory = Memory::default();
        for at in 0..100 {
            memory.note(&[1; 32], Kind::TOKEN, format!("f9Xk{at:04}qLw2").as_bytes());
        }
        assert_eq!(memory.seen.len(), MOST);
        let read = Memory::from_bytes(&memory.to_bytes());
        assert_eq!((&read.seen, read.lengths, read.fresh), (&memory.seen, memory.lengths, 0));
        assert!(Memory::from_bytes(b"too short").is_empty());
    }

    #[test]
    fn ordinary_words_are_not_remembered() {
        let mut memory = Memory::default();
        for word in ["swordfish", "PRODUCTION", "12345678", "Shopfront", "abc-12", ""] {
            memory.note(&[1; 32], Kind::PASSWORD, word.as_bytes());
        }
        assert!(memory.is_empty());
    }
}
