//! Which short runs of letters a session's records contain, as a set of bits: enough to know of most sessions, without
//! reading them, that they do not say something.

use context_graph_core::audit::{Needle, visit_texts};
use context_graph_core::session::EventRecord;

/// The runs are gathered in this many bits and folded to as many as they need.
const GATHERED_BITS: usize = 1 << 20;
/// The smallest signature.
const SMALLEST_BITS: usize = 1 << 10;
/// How many bits there are at least for each that is set: a third of them set by chance leaves one in nine runs of two,
/// one in thousands of seven.
const SPARSENESS: usize = 3;

/// A signature while records are taken in.
#[derive(Debug)]
pub(super) struct Gathering {
    words: Vec<u64>,
}

impl Gathering {
    pub(super) fn new() -> Self {
        Self { words: vec![0; GATHERED_BITS / 64] }
    }

    pub(super) fn take(&mut self, record: &EventRecord) {
        visit_texts(record, &mut |text| self.take_text(text.as_bytes()));
    }

    fn take_text(&mut self, text: &[u8]) {
        let mut run = 0_u32;
        for (at, byte) in text.iter().enumerate() {
            run = run << 8 | u32::from(byte.to_ascii_lowercase());
            if at >= 2 {
                self.set(run & 0x00ff_ffff);
            }
            if at >= 3 {
                self.set(run);
            }
        }
    }

    fn set(&mut self, run: u32) {
        let bit = place(run) & (GATHERED_BITS - 1);
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// The signature, as short as it may be.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let set: usize = self.words.iter().map(|word| word.count_ones() as usize).sum();
        let mut bits = GATHERED_BITS;
        while bits > SMALLEST_BITS && bits / 2 >= set * SPARSENESS {
            bits /= 2;
            let (low, high) = self.words.split_at_mut(bits / 64);
            low.iter_mut().zip(high).for_each(|(low, high)| *low |= *high);
            self.words.truncate(bits / 64);
        }
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// Where a run has its bit: well mixed in the low bits, so that folding keeps runs apart.
fn place(run: u32) -> usize {
    let mut mixed = run ^ run >> 16;
    mixed = mixed.wrapping_mul(0x7feb_352d);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(0x846c_a68b);
    (mixed ^ mixed >> 16) as usize
}

/// Whether a session with this signature may say what is looked for. Words of less than three letters leave no mark,
/// so that everything may say them.
pub fn may_contain(signature: &[u8], needle: &Needle) -> bool {
    let bits = signature.len() * 8;
    if !bits.is_power_of_two() {
        return true;
    }
    let text = needle.lower().as_bytes();
    let length = if text.len() >= 4 { 4 } else { 3 };
    text.windows(length).all(|run| {
        let run = run.iter().fold(0_u32, |run, byte| run << 8 | u32::from(*byte));
        let bit = place(run) & (bits - 1);
        signature[bit / 8] & (1 << (bit % 8)) != 0
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signature(texts: &[&str]) -> Vec<u8> {
        let mut gathering = Gathering::new();
        texts.iter().for_each(|text| gathering.take_text(text.as_bytes()));
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
