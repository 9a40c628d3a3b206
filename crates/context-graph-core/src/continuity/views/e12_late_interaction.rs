//! E12 late interaction: compares the words of the call with those of the one learned event that fits best.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::terms::Term;
use crate::continuity::view::View;
use crate::gwt::numeric::narrow;

/// See the module.
pub(crate) struct LateInteraction;

impl View for LateInteraction {
    fn usual(&self) -> f32 {
        0.65
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        let mut words: Vec<(Term, f64)> =
            event.words.input.iter().map(|&term| (term, memory.words.rarity(term))).collect();
        words.sort_unstable_by_key(|word| word.0);
        let total: f64 = words.iter().map(|word| word.1).sum();
        let best = memory.kept.iter().map(|past| shared(&words, past)).fold(0.0, f64::max);
        (total > 0.0).then(|| narrow(best / total))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Word)
    }
}

/// The weight of the words that a past event also has. Both lists are sorted.
fn shared(words: &[(Term, f64)], past: &[Term]) -> f64 {
    let mut past = past.iter().peekable();
    let mut sum = 0.0;
    for &(term, weight) in words {
        while past.next_if(|&&other| other < term).is_some() {}
        if past.peek() == Some(&&term) {
            sum += weight;
        }
    }
    sum
}
