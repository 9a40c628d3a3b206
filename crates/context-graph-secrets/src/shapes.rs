//! Tokens with a vendor's prefix: what follows the prefix, and how long it is. The rows come from `kinds.toml`.

use super::bytes::Set;
use super::kind::{Kind, SHAPES};

/// A prefix and what may follow it.
#[derive(Debug)]
pub(super) struct Shape {
    pub prefix: &'static str,
    pub body: Set,
    /// The shortest and longest body.
    pub length: (usize, usize),
    pub kind: Kind,
    /// Whether the prefix is the start of a URL, which itself is not secret.
    pub address: bool,
}

/// For each first byte, a bit set of the second bytes: most words are ruled out by one lookup.
static SECONDS: [u128; 128] = seconds();

const fn seconds() -> [u128; 128] {
    let mut seconds = [0; 128];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        seconds[prefix[0] as usize] |= 1 << prefix[1];
        at += 1;
    }
    seconds
}

/// The shapes whose prefixes share their first two bytes.
#[derive(Clone, Copy)]
struct Pair {
    from: u16,
    to: u16,
    /// A bit set of the third bytes. Bytes that differ only in their two highest bits share a bit.
    thirds: u64,
}

/// The pairs, sorted by their bytes.
static PAIRS: [Pair; SHAPES.len()] = pairs();

#[expect(clippy::cast_possible_truncation, reason = "there are hundreds of shapes, not thousands")]
const fn pairs() -> [Pair; SHAPES.len()] {
    let mut pairs = [Pair { from: 0, to: 0, thirds: 0 }; SHAPES.len()];
    let (mut pair, mut at) = (0, 0);
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        if at > 0 {
            let before = SHAPES[at - 1].prefix.as_bytes();
            if before[0] != prefix[0] || before[1] != prefix[1] {
                pair += 1;
                pairs[pair].from = at as u16;
            }
        }
        pairs[pair].to = at as u16 + 1;
        pairs[pair].thirds |= if prefix.len() > 2 { 1 << (prefix[2] & 63) } else { u64::MAX };
        at += 1;
    }
    pairs
}

/// For each first byte, how many pairs come before its own.
static FIRSTS: [u16; 128] = firsts();

#[expect(clippy::cast_possible_truncation, reason = "there are hundreds of shapes, not thousands")]
const fn firsts() -> [u16; 128] {
    let mut firsts = [0; 128];
    let mut byte = 1;
    while byte < 128 {
        firsts[byte] = firsts[byte - 1] + SECONDS[byte - 1].count_ones() as u16;
        byte += 1;
    }
    firsts
}

/// For each first byte, the third bytes, as in [`Pair::thirds`].
static THIRDS: [u64; 128] = thirds();

const fn thirds() -> [u64; 128] {
    let mut thirds = [0; 128];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        thirds[prefix[0] as usize] |= if prefix.len() > 2 { 1 << (prefix[2] & 63) } else { u64::MAX };
        at += 1;
    }
    thirds
}

/// The shapes whose prefix may begin here. One lookup rules out most words, a second one most of the rest.
#[inline]
pub(super) fn beginning_at(bytes: &[u8], at: usize) -> &'static [Shape] {
    let Some(&[first, second, third]) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return &[] };
    let known = SECONDS.get(first as usize).copied().unwrap_or_default();
    let third_known = THIRDS.get(first as usize).is_some_and(|thirds| thirds >> (third & 63) & 1 != 0);
    if !third_known || second >= 128 || known >> second & 1 == 0 {
        return &[];
    }
    with_pair(usize::from(first), known & ((1 << second) - 1), third)
}

/// The shapes of one pair, given how many pairs with the same first byte come before it.
fn with_pair(first: usize, before: u128, third: u8) -> &'static [Shape] {
    let first = FIRSTS.get(first).copied().unwrap_or_default();
    match PAIRS.get(usize::from(first) + before.count_ones() as usize) {
        Some(pair) if pair.thirds >> (third & 63) & 1 != 0 => {
            SHAPES.get(pair.from.into()..pair.to.into()).unwrap_or(&[])
        }
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_found_by_its_beginning_and_none_hides_behind_a_shorter_one() {
        for shape in &SHAPES {
            let text = format!("{}x", shape.prefix);
            let alike = beginning_at(text.as_bytes(), 0);
            let at = alike.iter().position(|other| other.prefix == shape.prefix).unwrap();
            let hides = |later: &Shape| later.prefix.starts_with(shape.prefix);
            assert!(!alike[at + 1..].iter().any(hides), "{}", shape.prefix);
        }
        for text in ["", "g", "gh", "zz top", "\u{e9}t\u{e9}"] {
            assert!(beginning_at(text.as_bytes(), 0).is_empty(), "{text}");
        }
    }
}
