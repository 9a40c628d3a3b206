//! E8 graph: compares the files and folders in the call with the known ones, by distance in the tree.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// See the module.
pub(crate) struct Graph;

impl View for Graph {
    fn usual(&self) -> f32 {
        0.8
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        memory.nearness(&event.places)
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Path)
    }
}
