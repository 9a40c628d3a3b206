//! Forecasts a session's next call, and measures how much better that is than guessing.
//!
//! The forecast uses what followed the previous call so far; the naive forecast uses only how often each kind
//! occurred. Work in a rhythm (change, run, change, run) is predictable, and a break in the rhythm is not.

use serde::{Deserialize, Serialize};

use super::consciousness::reflection;

/// The kinds of calls that the forecast distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallKind {
    /// It looked at something.
    Look,
    /// It changed a file.
    Change,
    /// It ran a command.
    Run,
    /// Anything else.
    Other,
    /// It failed, whatever kind it was.
    Failed,
}

const KINDS: usize = 5;

/// The weight of an error for each kind. Failures are rare, so predicting one is worth most.
const WEIGHTS: [f32; KINDS] = [1.0, 1.0, 1.0, 1.0, 20.0];
/// Counts that are assumed before the first call: how often each kind followed another kind, how often it followed
/// itself, and how often it occurred (for the naive forecast).
const BEFORE: f32 = 0.5;
const SAME_AGAIN: f32 = 3.0;
const CAME_BEFORE: f32 = 1.0;
/// The newest call's share in both smoothed errors.
const GAIN: f32 = 0.2;

/// The forecast of the next call's kind. A pure value: [`Self::observe`] returns the next one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Forecaster {
    /// How often each kind followed each other kind.
    after: [[u16; KINDS]; KINDS],
    /// How often each kind occurred.
    came: [u16; KINDS],
    last: CallKind,
    /// The smoothed errors of the forecast and of the naive one.
    own: f32,
    naive: f32,
}

impl Forecaster {
    /// The forecaster after a call.
    #[must_use]
    pub fn observe(mut self, kind: CallKind) -> Self {
        let (last, now) = (self.last as usize, kind as usize);
        let own = std::array::from_fn(|at| {
            f32::from(self.after[last][at]) + if at == last { SAME_AGAIN } else { BEFORE }
        });
        let naive = self.came.map(|count| f32::from(count) + CAME_BEFORE);
        self.own += GAIN * (error(&own, now) - self.own);
        self.naive += GAIN * (error(&naive, now) - self.naive);
        self.after[last][now] = self.after[last][now].saturating_add(1);
        self.came[now] = self.came[now].saturating_add(1);
        self.last = kind;
        self
    }

    /// How much better the forecast was lately than the naive one, in `[0, 1]`: 0.5 if both are equally good.
    pub fn skill(&self) -> f32 {
        reflection(self.own, self.naive)
    }
}

/// The squared distance between a forecast, given as counts, and the actual kind.
fn error(counts: &[f32; KINDS], came: usize) -> f32 {
    let total: f32 = counts.iter().sum();
    let of = |at: usize| counts[at] / total - if at == came { 1.0 } else { 0.0 };
    (0..KINDS).map(|at| WEIGHTS[at] * of(at) * of(at)).sum()
}

impl Default for Forecaster {
    fn default() -> Self {
        let start = 0.3;
        Self { after: [[0; KINDS]; KINDS], came: [0; KINDS], last: CallKind::Look, own: start, naive: start }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [CallKind; KINDS] =
        [CallKind::Look, CallKind::Change, CallKind::Run, CallKind::Other, CallKind::Failed];

    fn after(kinds: impl IntoIterator<Item = CallKind>) -> Forecaster {
        kinds.into_iter().fold(Forecaster::default(), Forecaster::observe)
    }

    #[test]
    fn a_rhythm_is_foreseen_and_its_break_is_not() {
        let rhythm = || [CallKind::Change, CallKind::Run].into_iter().cycle().take(40);
        let steady = after(rhythm()).skill();
        assert!(steady > 0.9, "{steady}");
        let broken =
            after(rhythm().chain([CallKind::Run, CallKind::Look, CallKind::Failed, CallKind::Other])).skill();
        assert!(broken < 0.6, "{broken}");
        assert!((Forecaster::default().skill() - 0.5).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn any_calls_give_a_skill_in_range(kinds in prop::collection::vec(0..KINDS, 0..200)) {
            let skill = after(kinds.into_iter().map(|at| ALL[at])).skill();
            prop_assert!((0.0..=1.0).contains(&skill));
        }
    }
}
