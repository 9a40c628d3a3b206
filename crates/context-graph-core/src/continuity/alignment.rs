//! Turns the likenesses that the views measure into the purpose vector, relative to what is usual in this
//! session.
//!
//! The likeness between the events of a session depends on the project and on the session's length as much as on its
//! purpose: a long session in a small project has seen every folder. So a view's alignment is its newest likeness
//! divided by the mean of the learned ones. That makes the views comparable: on usual work they all give the same
//! value.

use serde::{Deserialize, Serialize};

use super::memory::Trace;
use super::view::Views;
use crate::gwt::numeric::unit;
use crate::gwt::session_identity::KURAMOTO_N;

/// The alignment of an event whose likeness is the usual one.
pub(crate) const USUAL_ALIGNMENT: f32 = 0.65;
/// Added to numerator and denominator, so that the ratio stays bounded when even usual work has a low likeness.
const GROUND: f32 = 0.5;
/// The weight of the built-in mean, as a number of events.
const PRIOR: f32 = 25.0;
/// After this many events the mean forgets the oldest ones.
const LONGEST: u16 = 100;
/// With fewer learned events than this, a deviation from usual counts less.
const ENOUGH: u16 = 6;

/// When a view has no input in an event, its last value decays towards usual by this share.
const FORGETTING: f32 = 0.1;

/// The purpose vector, and what is usual in this session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Alignments {
    /// The newest alignments. A view that had no input keeps its last value, which decays towards usual.
    pub vector: [f32; KURAMOTO_N],
    likeness: [f32; KURAMOTO_N],
    usual: [f32; KURAMOTO_N],
    learned: u16,
}

impl Default for Alignments {
    fn default() -> Self {
        let usual = Views::default().all().map(super::view::View::usual);
        Self { vector: [USUAL_ALIGNMENT; KURAMOTO_N], likeness: usual, usual, learned: 0 }
    }
}

impl Alignments {
    /// Adds the likenesses of an event, and returns the values to learn from it.
    pub(crate) fn observe(&mut self, said: [Option<f32>; KURAMOTO_N]) -> [f32; KURAMOTO_N] {
        let trust = f32::from(self.learned.min(ENOUGH)) / f32::from(ENOUGH);
        for (view, said) in said.into_iter().enumerate() {
            let Some(said) = said else {
                self.vector[view] += FORGETTING * (USUAL_ALIGNMENT - self.vector[view]);
                continue;
            };
            let distance = trust * (said - self.usual[view]);
            self.likeness[view] = self.usual[view] + distance;
            self.vector[view] =
                unit(USUAL_ALIGNMENT * (self.likeness[view] + GROUND) / (self.usual[view] + GROUND));
        }
        self.likeness
    }

    /// Learns an event that has waited long enough.
    pub(crate) fn learn(&mut self, event: &Trace) {
        self.learned = self.learned.saturating_add(1);
        let count = PRIOR + f32::from(self.learned.min(LONGEST));
        for (usual, likeness) in self.usual.iter_mut().zip(event.likeness) {
            *usual += (likeness - *usual) / count;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::array::uniform13;
    use proptest::prelude::*;

    use super::*;

    fn learned(likeness: f32, events: usize) -> Alignments {
        let mut alignments = Alignments::default();
        let trace = Trace { likeness: [likeness; KURAMOTO_N], ..Trace::default() };
        (0..events).for_each(|_| alignments.learn(&trace));
        alignments
    }

    #[test]
    fn what_is_usual_in_the_session_is_usual() {
        for likeness in [0.2, 0.5, 0.9] {
            let mut alignments = learned(likeness, 2_000);
            alignments.observe([Some(likeness); KURAMOTO_N]);
            assert!(alignments.vector.iter().all(|a| (a - USUAL_ALIGNMENT).abs() < 0.01));
            alignments.observe([Some(0.0); KURAMOTO_N]);
            assert!(alignments.vector.iter().all(|&a| a < USUAL_ALIGNMENT - 0.1));
        }
    }

    #[test]
    fn a_view_that_has_nothing_to_go_by_returns_to_usual() {
        let mut alignments = learned(0.8, 100);
        alignments.observe([Some(0.0); KURAMOTO_N]);
        let low = alignments.vector;
        alignments.observe([None; KURAMOTO_N]);
        assert!(alignments.vector.iter().zip(low).all(|(&now, low)| now > low && now < USUAL_ALIGNMENT));
    }

    proptest! {
        #[test]
        fn alignments_stay_in_range(said in prop::collection::vec(uniform13(prop::option::of(0.0..=1.0f32)), 0..80)) {
            let mut alignments = Alignments::default();
            for said in said {
                let likeness = alignments.observe(said);
                alignments.learn(&Trace { likeness, ..Trace::default() });
                prop_assert!(alignments.vector.iter().chain(&likeness).all(|a| (0.0..=1.0).contains(a)));
            }
        }
    }
}
