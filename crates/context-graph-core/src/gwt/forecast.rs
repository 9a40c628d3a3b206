//! The monitor's expectation of the next IC.

use serde::{Deserialize, Serialize};

use super::numeric::unit;

/// The share of the forecast's error that moves the level.
const LEVEL_GAIN: f32 = 0.5;

/// The share of the forecast's error that moves the trend.
const TREND_GAIN: f32 = 0.15;

/// How much of the trend is left after an event. Below 1, because an IC cannot rise or fall for ever, and a trend
/// that met the end of the range would otherwise outlive its cause.
const TREND_DAMPING: f32 = 0.8;

/// Exponential smoothing of level and damped trend.
///
/// A pure value: [`Self::observe`] gives the next one. It starts by expecting 1, the IC of a session that has not
/// drifted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Forecaster {
    level: f32,
    trend: f32,
}

impl Forecaster {
    /// The IC expected next, in `[0, 1]`.
    pub fn forecast(self) -> f32 {
        let Self { level, trend } = self.usable();
        unit(level + trend)
    }

    /// The forecaster after an IC was observed. One that is not finite counts as 0.
    #[must_use]
    pub fn observe(self, ic: f32) -> Self {
        let expected = self.forecast();
        let error = unit(ic) - expected;
        Self {
            level: unit(expected + LEVEL_GAIN * error),
            trend: TREND_DAMPING * self.usable().trend + TREND_GAIN * error,
        }
    }

    /// What was read from disk may hold anything.
    fn usable(self) -> Self {
        let trend = if self.trend.is_finite() { self.trend.clamp(-1.0, 1.0) } else { 0.0 };
        Self { level: unit(self.level), trend }
    }
}

impl Default for Forecaster {
    fn default() -> Self {
        Self { level: 1.0, trend: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::any_f32;

    fn after(ics: impl IntoIterator<Item = f32>) -> Forecaster {
        ics.into_iter().fold(Forecaster::default(), Forecaster::observe)
    }

    #[test]
    fn a_session_that_has_not_drifted_is_expected_to_stay() {
        assert_eq!(Forecaster::default().forecast().to_bits(), 1.0f32.to_bits());
        assert_eq!(after([1.0; 50]).forecast().to_bits(), 1.0f32.to_bits());
    }

    #[test]
    fn a_steady_fall_is_expected_to_go_on() {
        let falling = after((0..10u8).map(|n| 1.0 - 0.05 * f32::from(n)));
        assert!(falling.trend < -0.02);
        assert!(falling.forecast() < falling.level);
    }

    proptest! {
        #[test]
        fn a_steady_ic_is_soon_foreseen(ic in 0.0..=1.0f32, before in prop::collection::vec(0.0..=1.0f32, 0..20)) {
            let forecaster = after(before.into_iter().chain([ic; 40]));
            prop_assert!((forecaster.forecast() - ic).abs() < 1e-3);
        }

        #[test]
        fn any_state_and_any_ic_give_a_forecast_in_range(
            level in any_f32(),
            trend in any_f32(),
            ics in prop::collection::vec(any_f32(), 0..40),
        ) {
            let forecaster = ics.into_iter().fold(Forecaster { level, trend }, Forecaster::observe);
            prop_assert!((0.0..=1.0).contains(&forecaster.forecast()));
        }
    }
}
