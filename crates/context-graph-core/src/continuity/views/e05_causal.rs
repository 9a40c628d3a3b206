//! E5 causal: where the call led. Compares the files and folders in the result with the known ones.
//!
//! Two other signals were tried: whether a call uses what earlier results produced, and whether a repair
//! follows an error. Given the other views, neither separated drift from work better than chance.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// See the module.
pub(crate) struct Causal;

impl View for Causal {
    fn usual(&self) -> f32 {
        0.7
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        memory.nearness(&event.found)
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Path)
    }
}
