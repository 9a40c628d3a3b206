//! E2 temporal-recent: compares the words of the call with those of the newest prompt and the newest learned
//! events.
//!
//! The view could compare the mix of tools instead, but that is nearly the same in every task. Recent work
//! separates two tasks of a project better than everything ever seen in it.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// How many learned events count as recent.
const RECENT: u32 = 30;

/// See the module.
pub(crate) struct Recent;

impl View for Recent {
    fn usual(&self) -> f32 {
        0.75
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        memory.words.coverage(event.words.input.iter().copied(), |term| {
            memory.last_asked.contains(&term) || memory.words.knows_lately(term, RECENT)
        })
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Word)
    }
}
