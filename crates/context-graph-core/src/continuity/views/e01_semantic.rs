//! E1 semantic: compares the words of the call with those of the prompts and all learned events, weighted by
//! rarity.
//!
//! The words of the result are left out: a call shows what the agent wants, a result only what is there.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// See the module.
pub(crate) struct Semantic;

impl View for Semantic {
    fn usual(&self) -> f32 {
        0.8
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        memory.words.coverage(event.words.input.iter().copied(), |term| memory.knows_word(term))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Word)
    }
}
