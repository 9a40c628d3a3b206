//! Consciousness and its factors. They are names for four numbers, which are defined here; nothing more is
//! claimed.

use serde::{Deserialize, Serialize};

use super::johari::{JohariClassifier, JohariQuadrant};
use super::numeric::{cube_root_of_unit, ln, narrow, unit};
use super::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// The measures of a session, as a hook reports them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConsciousnessState {
    /// Consciousness: see [`consciousness`].
    pub consciousness: f32,
    /// Integration: the oscillators' order parameter.
    pub integration: f32,
    /// Reflection: see [`reflection`].
    pub reflection: f32,
    /// Differentiation: see [`differentiation`].
    pub differentiation: f32,
    /// Identity continuity.
    pub identity_continuity: f32,
    /// The Johari quadrant of consciousness and integration.
    pub johari_quadrant: JohariQuadrant,
}

impl ConsciousnessState {
    /// The measures in a snapshot, each clamped to `[0, 1]`.
    pub fn from_snapshot(snapshot: &SessionIdentitySnapshot) -> Self {
        Self {
            consciousness: unit(snapshot.consciousness),
            integration: unit(snapshot.integration),
            reflection: unit(snapshot.reflection),
            differentiation: unit(snapshot.differentiation),
            identity_continuity: unit(snapshot.last_ic),
            johari_quadrant: JohariClassifier::classify(snapshot),
        }
    }
}

/// How evenly alignment is spread over the views: the entropy of the purpose vector (as shares of its sum),
/// divided by the entropy of thirteen equal shares. 1 if all views agree equally; 0 if only one agrees, or
/// none.
pub fn differentiation(pv: &[f32; KURAMOTO_N]) -> f32 {
    let alignments = pv.map(|alignment| f64::from(unit(alignment)));
    let total: f64 = alignments.iter().sum();
    let entropy = alignments.iter().filter(|&&alignment| alignment > 0.0).fold(0.0, |entropy, alignment| {
        let share = alignment / total;
        entropy - share * ln(share)
    });
    unit(narrow(entropy / ln(13.0)))
}

/// The skill of a forecast against a naive one, from the errors of both: 1 if it made no error, 0.5 if both
/// made the same, 0 if only the naive one made none. An error that is not a positive number counts as no error.
pub fn reflection(own_error: f32, naive_error: f32) -> f32 {
    let [own, naive] = [own_error, naive_error].map(|error| {
        let error = if error.is_finite() { f64::from(error.max(0.0)) } else { 0.0 };
        error * error
    });
    if own + naive > 0.0 { unit(narrow(naive / (own + naive))) } else { 0.5 }
}

/// Integration, reflection and differentiation in one number: the cube root of their product.
///
/// The bare product of three good measures looks poor (0.8³ is 0.51); the root puts it back on their scale, so
/// that three equal factors give that factor. One factor of 0 still gives 0.
pub fn consciousness(integration: f32, reflection: f32, differentiation: f32) -> f32 {
    let [i, r, d] = [integration, reflection, differentiation].map(|factor| f64::from(unit(factor)));
    narrow(cube_root_of_unit(i * r * d))
}

#[cfg(test)]
mod tests {
    use proptest::array::uniform13;
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::{any_f32, any_vector};

    #[test]
    fn equal_views_differ_most_and_a_single_one_not_at_all() {
        let mut single = [0.0; KURAMOTO_N];
        single[4] = 0.7;
        assert!((differentiation(&[0.3; KURAMOTO_N]) - 1.0).abs() < 1e-6);
        assert_eq!(differentiation(&single).to_bits(), 0.0f32.to_bits());
        assert_eq!(differentiation(&[0.0; KURAMOTO_N]).to_bits(), 0.0f32.to_bits());
    }

    #[test]
    fn a_forecast_without_error_reflects_fully() {
        assert_eq!(reflection(0.0, 0.8).to_bits(), 1.0f32.to_bits());
        assert_eq!(reflection(1.0, 0.0).to_bits(), 0.0f32.to_bits());
        assert_eq!(reflection(0.4, 0.4).to_bits(), 0.5f32.to_bits());
    }

    #[test]
    fn the_state_of_a_damaged_snapshot_is_in_range() {
        let damaged = SessionIdentitySnapshot {
            consciousness: f32::NAN,
            integration: f32::INFINITY,
            last_ic: f32::NAN,
            reflection: -4.0,
            ..SessionIdentitySnapshot::new("s")
        };
        let json = serde_json::to_value(ConsciousnessState::from_snapshot(&damaged)).unwrap();
        for field in ["consciousness", "integration", "reflection", "differentiation", "identity_continuity"]
        {
            assert_eq!(json[field], 0.0, "{field}");
        }
        assert_eq!(json["johari_quadrant"], "unknown");
    }

    proptest! {
        #[test]
        fn every_measure_is_in_range(pv in any_vector(), a in any_f32(), b in any_f32(), c in any_f32()) {
            for measure in [differentiation(&pv), reflection(a, b), consciousness(a, b, c)] {
                prop_assert!((0.0..=1.0).contains(&measure));
            }
        }

        #[test]
        fn differentiation_does_not_depend_on_scale(pv in uniform13(0.0..=1.0f32), scale in 0.01..1.0f32) {
            let scaled = pv.map(|alignment| alignment * scale);
            prop_assert!((differentiation(&pv) - differentiation(&scaled)).abs() < 1e-4);
        }

        #[test]
        fn three_equal_factors_give_that_factor(factor in 0.0..=1.0f32) {
            prop_assert!((consciousness(factor, factor, factor) - factor).abs() < 1e-6);
        }

        #[test]
        fn a_better_factor_never_lowers_consciousness(
            i in 0.0..=1.0f32, r in 0.0..=1.0f32, d in 0.0..=1.0f32, gain in 0.0..=1.0f32,
        ) {
            let better = consciousness((i + gain).min(1.0), r, d);
            prop_assert!(better >= consciousness(i, r, d) - 1e-6);
        }

        #[test]
        fn the_order_of_the_factors_does_not_matter(i in any_f32(), r in any_f32(), d in any_f32()) {
            prop_assert!((consciousness(i, r, d) - consciousness(d, i, r)).abs() < 1e-6);
        }
    }
}
