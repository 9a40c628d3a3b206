//! E3 temporal-periodic: compares the step from one tool to the next with earlier steps.

use serde::{Deserialize, Serialize};

use crate::continuity::memory::{Memory, Trace};
use crate::continuity::observation::Observation;
use crate::continuity::view::View;
use crate::continuity::vocabulary::Vocabulary;

/// How many different steps are remembered.
const STEPS: u16 = 120;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Periodic {
    steps: Vocabulary,
}

impl Default for Periodic {
    fn default() -> Self {
        Self { steps: Vocabulary::new(STEPS) }
    }
}

impl View for Periodic {
    fn usual(&self) -> f32 {
        0.5
    }

    fn compare(&self, event: &Observation, _: &Memory) -> Option<f32> {
        let seen = f32::from(self.steps.count(event.step.1));
        Some(seen / (seen + 1.0))
    }

    fn learn(&mut self, event: &Trace) {
        self.steps.learn(&[event.step.1]);
    }
}
