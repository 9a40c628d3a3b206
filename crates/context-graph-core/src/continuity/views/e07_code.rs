//! E7 code: compares identifiers of the call and its result with those of the prompts and learned events.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// See the module.
pub(crate) struct Code;

impl View for Code {
    fn usual(&self) -> f32 {
        0.55
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        memory.identifiers.coverage(event.identifiers.all(), |term| memory.knows_identifier(term))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Identifier)
    }
}
