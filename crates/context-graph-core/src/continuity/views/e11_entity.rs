//! E11 entity: compares the exact files in the call, and numbers, hosts, hashes and codes, with the known ones.

use crate::continuity::explain::EvidenceKind;
use crate::continuity::memory::Memory;
use crate::continuity::observation::Observation;
use crate::continuity::view::View;
use crate::gwt::numeric::narrow;

/// The weight of a file against all other entities together.
const FILES: f64 = 2.0;

/// See the module.
pub(crate) struct Entity;

impl View for Entity {
    fn usual(&self) -> f32 {
        0.5
    }

    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32> {
        let others = memory.entities.coverage(event.entities.all(), |term| memory.entities.knows(term));
        let known = event.places.iter().filter(|place| memory.knows_place(place.file)).count();
        let files = (!event.places.is_empty()).then(|| count(known) / count(event.places.len()));
        match (files, others.map(f64::from)) {
            (Some(files), Some(others)) => Some(narrow((FILES * files + others) / (FILES + 1.0))),
            (one, other) => one.or(other).map(narrow),
        }
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::Path)
    }
}

#[expect(clippy::cast_precision_loss, reason = "an event names few files")]
fn count(n: usize) -> f64 {
    n as f64
}
