//! Which short runs of letters a session's records contain, as a set of bits: enough to know of most sessions, without
//! reading them, that they do not say something.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use context_graph_core::audit::{Needle, visit_texts};
use context_graph_core::session::EventRecord;

/// How many bits there are for each run.
const BITS_PER_RUN: usize = 8;
/// How many of them each run sets. With these numbers one run in forty that is not there is taken for there.
const SET_PER_RUN: u32 = 4;

/// How many runs are remembered as just seen.
const RECENT: usize = 1 << 15;
/// No text has this run.
const NO_RUN: u32 = u32::MAX;

/// A signature while records are taken in.
#[derive(Debug)]
pub(super) struct Gathering {
    runs: HashSet<u32, BuildHasherDefault<Mixed>>,
    /// Runs that are in the set, each in the one place where it may be: most come again and again, and looking here
    /// costs less.
    recent: Vec<u32>,
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self { runs: HashSet::default(), recent: vec![NO_RUN; RECENT] }
    }

    pub(super) fn take(&mut self, record: &EventRecord) {
        visit_texts(record, &mut |text| self.take_text(text.as_bytes()));
    }

    fn take_text(&mut self, text: &[u8]) {
        let mut run = 0_u32;
        for (at, byte) in text.iter().enumerate() {
            run = run << 8 | u32::from(byte.to_ascii_lowercase());
            if at >= 2 {
                self.add(run & 0x00ff_ffff);
            }
            if at >= 3 {
                self.add(run);
            }
        }
    }

    fn add(&mut self, run: u32) {
        let place = &mut self.recent[mixed(run) as usize % RECENT];
        if *place != run {
            *place = run;
            self.runs.insert(run);
        }
    }

    /// The signature.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut signature = vec![0; (self.runs.len() * BITS_PER_RUN).div_ceil(8).max(8)];
        for run in self.runs {
            for bit in places(run, signature.len()) {
                signature[bit / 8] |= 1 << (bit % 8);
            }
        }
        signature
    }
}

/// The bits of a run in a signature of so many bytes.
fn places(run: u32, bytes: usize) -> impl Iterator<Item = usize> {
    let (first, step) = (u64::from(mixed(run)), u64::from(mixed(!run) | 1));
    (0..SET_PER_RUN).map(move |nth| {
        let place = (first + u64::from(nth) * step) & u64::from(u32::MAX);
        // A share of 2³² is the same share of the bits.
        usize::try_from((place * (bytes as u64 * 8)) >> 32).unwrap_or(0)
    })
}

/// A run, well mixed.
fn mixed(run: u32) -> u32 {
    let mut mixed = run ^ run >> 16;
    mixed = mixed.wrapping_mul(0x7feb_352d);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}

/// The hash of a run: there are a hundred thousand of them to a session, and nobody chooses them to collide.
#[derive(Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u32(&mut self, run: u32) {
        self.0 = u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// The low bits choose the place, and those of a product are the least mixed.
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

/// Whether a session with this signature may say what is looked for. Words of less than three letters leave no mark,
/// so that everything may say them.
pub fn may_contain(signature: &[u8], needle: &Needle) -> bool {
    let text = needle.lower().as_bytes();
    let length = if text.len() >= 4 { 4 } else { 3 };
    text.windows(length).all(|run| {
        let run = run.iter().fold(0_u32, |run, byte| run << 8 | u32::from(*byte));
        places(run, signature.len())
            .all(|bit| signature.get(bit / 8).is_none_or(|byte| byte & (1 << (bit % 8)) != 0))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signature(texts: &[&str]) -> Vec<u8> {
        let mut gathering = Gathering::new();
        for text in texts {
            gathering.take_text(text.as_bytes());
        }
        gathering.finish()
    }

    #[test]
    fn what_is_not_there_is_mostly_known_not_to_be() {
        let words: Vec<String> = (0..4000).map(|n| format!("word{:x}", n * 7919)).collect();
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let signature = signature(&texts);
        let absent =
            (0..1000).filter(|n| may_contain(&signature, &Needle::new(&format!("other{n}thing")))).count();
        assert!(absent < 10, "{absent} of 1000 were taken for there");
        assert!(signature.len() <= 32 << 10, "{}", signature.len());
    }

    proptest! {
        #[test]
        fn whatever_is_there_may_be_there(text in ".{0,200}", from in 0usize..200, length in 0usize..40) {
            let signature = signature(&[&text]);
            let part: String = text.chars().skip(from).take(length).collect();
            prop_assert!(may_contain(&signature, &Needle::new(&part)));
            prop_assert!(may_contain(&signature, &Needle::new(&part.to_ascii_uppercase())));
        }
    }
}
