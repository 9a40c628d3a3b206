//! E4 temporal-positional: compares the time since the last event and the position in the turn with the usual
//! ones.

use serde::{Deserialize, Serialize};

use crate::continuity::memory::{Memory, Trace};
use crate::continuity::observation::Observation;
use crate::continuity::view::View;

/// The newest event's share in the usual time between events.
const SHARE: f32 = 0.1;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Positional {
    /// Tenths of a second between events; 0 before the first learned event.
    usual_gap: f32,
    longest_turn: u32,
}

impl View for Positional {
    fn usual(&self) -> f32 {
        0.75
    }

    fn compare(&self, event: &Observation, _: &Memory) -> Option<f32> {
        if self.longest_turn == 0 {
            return None;
        }
        let gap = ratio(tenths(event.gap) + 1.0, self.usual_gap + 1.0);
        let place = if event.place_in_turn <= self.longest_turn {
            1.0
        } else {
            ratio(tenths(event.place_in_turn), tenths(self.longest_turn))
        };
        Some(0.5 * (gap + place))
    }

    fn learn(&mut self, event: &Trace) {
        let gap = tenths(event.gap);
        self.usual_gap =
            if self.longest_turn == 0 { gap } else { self.usual_gap + SHARE * (gap - self.usual_gap) };
        self.longest_turn = self.longest_turn.max(event.place_in_turn).max(1);
    }
}

/// The smaller of two positive numbers divided by the larger.
fn ratio(a: f32, b: f32) -> f32 {
    a.min(b) / a.max(b)
}

#[expect(clippy::cast_precision_loss, reason = "a gap of weeks needs no tenths of a second")]
fn tenths(count: u32) -> f32 {
    count as f32
}
