//! E9 hyperdimensional: each word is a random vector of signs, an event is the sum of its words, the session is
//! the sum of its events. The likeness is the cosine of the two. Unlike coverage, this counts how often words
//! repeat.

use serde::{Deserialize, Serialize};

use crate::continuity::memory::{Memory, Trace};
use crate::continuity::observation::Observation;
use crate::continuity::terms::Term;
use crate::continuity::view::View;
use crate::gwt::numeric::{narrow, unit};

/// Components of a vector.
const DIMENSIONS: usize = 512;
/// Above this value all components are halved, so that none can overflow.
const LIMIT: i16 = 8_000;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hyperdimensional {
    /// Empty before the first learned event.
    bundle: Vec<i16>,
}

impl View for Hyperdimensional {
    fn usual(&self) -> f32 {
        0.5
    }

    fn compare(&self, event: &Observation, _: &Memory) -> Option<f32> {
        let mut sum = [0i16; DIMENSIONS];
        for term in event.words.all() {
            add(&mut sum, term);
        }
        let (mut dot, mut own, mut past) = (0i64, 0i64, 0i64);
        for (&a, &b) in sum.iter().zip(&self.bundle) {
            let (a, b) = (i64::from(a), i64::from(b));
            dot += a * b;
            own += a * a;
            past += b * b;
        }
        (own > 0 && past > 0).then(|| unit(narrow(real(dot) / (real(own).sqrt() * real(past).sqrt()))))
    }

    fn learn(&mut self, event: &Trace) {
        self.bundle.resize(DIMENSIONS, 0);
        for &term in &event.words {
            add(&mut self.bundle, term);
        }
        if self.bundle.iter().any(|component| component.abs() > LIMIT) {
            for component in &mut self.bundle {
                *component /= 2;
            }
        }
    }
}

/// The eight signs that each byte encodes, so that eight components are added at once.
const SIGNS: [[i16; 8]; 256] = signs();

const fn signs() -> [[i16; 8]; 256] {
    let mut signs = [[-1; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if (byte >> bit) & 1 == 1 {
                signs[byte][bit] = 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    signs
}

/// Adds a term's vector to a sum. The vector is made from the hash (splitmix64).
fn add(sum: &mut [i16], term: Term) {
    let mut state = u64::from(term);
    for chunk in sum.chunks_exact_mut(64) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        for (components, byte) in chunk.chunks_exact_mut(8).zip(bits.to_le_bytes()) {
            for (component, sign) in components.iter_mut().zip(SIGNS[usize::from(byte)]) {
                *component += sign;
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sums of 512 squares of small numbers are exact")]
fn real(x: i64) -> f64 {
    x as f64
}
