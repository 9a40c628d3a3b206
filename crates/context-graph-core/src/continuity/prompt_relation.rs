//! How a prompt relates to the work so far: whether the prompt continues that work or asks for something else.
//!
//! A prompt does not judge the work, and a user who wants something else is not drift. So a prompt changes the
//! purpose vector and the measures derived from it only until the next tool result. It never changes what later
//! results are compared with.

use super::explain::EvidenceKind;
use super::memory::Memory;
use super::observation::Observation;
use super::view::Views;
use crate::gwt::session_identity::KURAMOTO_N;

/// A prompt fits fully if this share of what it names is known.
const FITTING: f32 = 0.4;
/// The largest share of its alignment that a view can lose.
const WEIGHT: f32 = 0.5;
/// Prompts with fewer terms than this count less: "go on" names nothing and means the same work.
const ENOUGH: f32 = 6.0;

/// The purpose vector after a prompt. Each view that uses words, identifiers or places keeps its alignment as
/// far as the prompt is about things the session knows.
pub(super) fn weigh(
    prompt: &Observation,
    memory: &Memory,
    views: &Views,
    vector: &[f32; KURAMOTO_N],
) -> [f32; KURAMOTO_N] {
    let [words, identifiers, places] = [EvidenceKind::Word, EvidenceKind::Identifier, EvidenceKind::Path]
        .map(|kind| kept(prompt, memory, kind));
    let views = views.all();
    std::array::from_fn(|view| {
        vector[view]
            * match views[view].evidence() {
                Some(EvidenceKind::Word) => words,
                Some(EvidenceKind::Identifier) => identifiers,
                Some(EvidenceKind::Path) => places,
                None => 1.0,
            }
    })
}

/// The share of its alignment that a view keeps after a prompt.
fn kept(prompt: &Observation, memory: &Memory, kind: EvidenceKind) -> f32 {
    let terms = |side: &[u32]| u16::try_from(side.len()).map_or(f32::from(u16::MAX), f32::from);
    let (known, said) = match kind {
        EvidenceKind::Word => {
            let words = prompt.words.all();
            let known = memory.words.coverage(words, |term| memory.knows_word(term));
            (known, terms(&prompt.words.input))
        }
        EvidenceKind::Identifier => {
            let identifiers = prompt.identifiers.all();
            let known = memory.identifiers.coverage(identifiers, |term| memory.knows_identifier(term));
            // One identifier says more than one word.
            (known, terms(&prompt.identifiers.input) * 2.0)
        }
        EvidenceKind::Path => (memory.nearness(&prompt.places), ENOUGH),
    };
    let Some(known) = known else { return 1.0 };
    let fit = (known / FITTING).min(1.0);
    1.0 - WEIGHT * (said / ENOUGH).min(1.0) * (1.0 - fit)
}
