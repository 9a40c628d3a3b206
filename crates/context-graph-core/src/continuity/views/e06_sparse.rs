//! E6 sparse: compares runs of five characters of the call with those of learned events. Works on spelling
//! where words fail: other languages, flags, markup.

use serde::{Deserialize, Serialize};

use crate::continuity::memory::{Memory, Trace};
use crate::continuity::observation::Observation;
use crate::continuity::view::View;
use crate::continuity::vocabulary::Vocabulary;

/// How many runs are remembered.
const RUNS: u16 = 700;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sparse {
    runs: Vocabulary,
}

impl Default for Sparse {
    fn default() -> Self {
        Self { runs: Vocabulary::new(RUNS) }
    }
}

impl View for Sparse {
    fn usual(&self) -> f32 {
        0.4
    }

    fn compare(&self, event: &Observation, _: &Memory) -> Option<f32> {
        self.runs.coverage(event.grams.iter().copied(), |run| self.runs.knows(run))
    }

    fn learn(&mut self, event: &Trace) {
        self.runs.learn(&event.grams);
    }
}
