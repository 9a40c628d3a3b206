//! E13 keyword: compares the rare words of call and result. Words that more than one event in ten has are left
//! out.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// See the module.
pub(crate) struct Keyword;

impl View for Keyword {
    fn usual(&self) -> f32 {
        0.55
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        let common = memory.words.events() / 10;
        let rare = event.words.all().filter(|&term| u32::from(memory.words.count(term)) <= common);
        memory.words.coverage(rare, |term| memory.knows_word(term))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Word)
    }
}
