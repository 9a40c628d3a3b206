//! When a session reports drift or a loop: rarely, late and only once.
//!
//! Real sessions hardly ever drift, so an alarm at the first low measure is nearly always false. Exploration at
//! the beginning measures low, and so does the first step of new work.

use serde::{Deserialize, Serialize};

use crate::gwt::ic_monitor::{IC_CRITICAL_THRESHOLD, IC_WARNING_THRESHOLD};

/// Drift is reported only after this many calls that matched the purpose. The first calls explore.
const SETTLED: u32 = 40;
/// It is not reported in this many calls after a prompt: the newest prompt is the purpose.
const TURNING: u32 = 12;
/// Drift is reported after this many calls in a row below the threshold.
const IN_A_ROW: u32 = 3;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// The work has drifted from the request.
    Drift,
    /// The same thing happens again and again.
    Loop,
}

/// The state needed to report each of them only once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// A call whose continuity is below this has left the purpose.
    pub below: f32,
    /// How many calls in a row were below it.
    low: u32,
    /// Calls since the last prompt.
    in_turn: u32,
    /// Calls of the session that matched the purpose.
    settled: u32,
    drift_told: bool,
    loop_told: bool,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            below: IC_CRITICAL_THRESHOLD,
            low: 0,
            in_turn: 0,
            settled: 0,
            drift_told: false,
            loop_told: false,
        }
    }
}

impl Watch {
    /// After a prompt, counting starts again.
    pub(super) fn asked(&mut self) {
        *self = Self { below: self.below, settled: self.settled, ..Self::default() };
    }

    /// Adds a call's continuity and whether the session is in a loop.
    pub(super) fn observe(&mut self, ic: f32, is_looping: bool) -> Option<Alarm> {
        self.in_turn = self.in_turn.saturating_add(1);
        self.settled = self.settled.saturating_add(u32::from(ic >= IC_WARNING_THRESHOLD));
        self.low = if ic < self.below { self.low.saturating_add(1) } else { 0 };
        if !is_looping {
            self.loop_told = false;
        } else if !self.loop_told {
            self.loop_told = true;
            return Some(Alarm::Loop);
        }
        let is_settled = self.settled >= SETTLED && self.in_turn > TURNING;
        if is_settled && self.low >= IN_A_ROW && !self.drift_told {
            self.drift_told = true;
            return Some(Alarm::Drift);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarms(ics: &[f32], settled: u32) -> Vec<usize> {
        let mut watch = Watch { in_turn: 50, settled, ..Watch::default() };
        (0..ics.len()).filter(|&at| watch.observe(ics[at], false).is_some()).collect()
    }

    #[test]
    fn drift_is_told_once_after_three_calls_in_a_row() {
        assert_eq!(alarms(&[0.4, 0.4, 0.9, 0.4, 0.4, 0.4, 0.4, 0.9, 0.4, 0.4, 0.4], SETTLED), [5]);
    }

    #[test]
    fn exploring_is_no_drift() {
        assert!(alarms(&[0.1; 90], SETTLED - 1).is_empty());
    }

    #[test]
    fn who_has_just_asked_is_not_told_of_drift() {
        let mut watch = Watch { settled: SETTLED, in_turn: 90, ..Watch::default() };
        watch.asked();
        for _ in 0..TURNING {
            assert_eq!(watch.observe(0.1, false), None);
        }
        assert_eq!(watch.observe(0.1, false), Some(Alarm::Drift));
        assert_eq!(watch.observe(0.1, false), None);
    }

    #[test]
    fn a_loop_is_told_once_and_again_when_it_comes_back() {
        let mut watch = Watch::default();
        let told = [true, true, false, true].map(|looping| watch.observe(1.0, looping));
        assert_eq!(told, [Some(Alarm::Loop), None, None, Some(Alarm::Loop)]);
    }
}
