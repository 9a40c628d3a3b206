//! E5 causal: where the call led: the files and folders that its result names with those known.
//!
//! Whether a call uses what earlier results produced, and whether an error is followed by a repair, told drift
//! from work no better than chance once the other views were known.

use crate::continuity::explain::Evidence;
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

    fn evidence(&self) -> Option<Evidence> {
        Some(Evidence::Path)
    }
}
