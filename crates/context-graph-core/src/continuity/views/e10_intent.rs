//! E10 intent: how much of what the user asked for shows in the event: its words that are also in prompts, by
//! rarity.
//!
//! It is not a share of the event's words: a long result that contains what was asked for is still on purpose.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;
use crate::gwt::numeric::narrow;

/// This many rare words of a prompt give half of full alignment.
const HALF: f64 = 2.0;

/// See the module.
pub(crate) struct Intent;

impl View for Intent {
    fn usual(&self) -> f32 {
        0.35
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        let new = memory.words.rarity_of(0);
        let mut words = event.words.all().peekable();
        words.peek()?;
        let hits: f64 = words
            .filter(|&term| memory.asked_words.knows(term))
            .map(|term| memory.words.rarity(term) / new)
            .sum();
        Some(narrow(hits / (hits + HALF)))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Word)
    }
}
