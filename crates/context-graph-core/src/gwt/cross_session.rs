//! How alike the purposes of two sessions are.

use super::numeric::{narrow, unit};
use super::session_identity::KURAMOTO_N;

/// The cross-session IC when there is nothing to compare: neither like nor unlike.
pub const NEUTRAL_CROSS_SESSION_IC: f32 = 0.5;

/// The cosine of two sessions' stored purpose vectors. It is in `[0, 1]` because alignments are not negative.
///
/// Each vector must come from its own session's record: a new session that starts with a copy of the previous
/// vector would agree with it by construction. A session without a vector yet (all zeros) gives
/// [`NEUTRAL_CROSS_SESSION_IC`]. Components are clamped to `[0, 1]`; one that is not finite counts as 0.
pub fn cross_session_ic(current: &[f32; KURAMOTO_N], previous: &[f32; KURAMOTO_N]) -> f32 {
    let current = current.map(|alignment| f64::from(unit(alignment)));
    let previous = previous.map(|alignment| f64::from(unit(alignment)));
    let norms = (dot(&current, &current) * dot(&previous, &previous)).sqrt();
    if norms > 0.0 { unit(narrow(dot(&current, &previous) / norms)) } else { NEUTRAL_CROSS_SESSION_IC }
}

fn dot(a: &[f64; KURAMOTO_N], b: &[f64; KURAMOTO_N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::array::uniform13;
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::any_vector;

    const NONE: [f32; KURAMOTO_N] = [0.0; KURAMOTO_N];

    #[test]
    fn purposes_without_a_common_view_are_unlike() {
        let (mut one, mut other) = (NONE, NONE);
        one[0] = 0.9;
        other[1] = 0.9;
        assert_eq!(cross_session_ic(&one, &other).to_bits(), 0.0f32.to_bits());
    }

    #[test]
    fn tiny_vectors_still_have_a_direction() {
        let tiny = [f32::from_bits(1); KURAMOTO_N];
        assert!((cross_session_ic(&tiny, &[1.0; KURAMOTO_N]) - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn a_session_without_a_purpose_is_neutral(other in any_vector()) {
            prop_assert_eq!(cross_session_ic(&NONE, &other).to_bits(), NEUTRAL_CROSS_SESSION_IC.to_bits());
            prop_assert_eq!(cross_session_ic(&other, &NONE).to_bits(), NEUTRAL_CROSS_SESSION_IC.to_bits());
        }

        #[test]
        fn likeness_is_in_range_and_mutual(one in any_vector(), other in any_vector()) {
            let likeness = cross_session_ic(&one, &other);
            prop_assert!((0.0..=1.0).contains(&likeness));
            prop_assert_eq!(likeness.to_bits(), cross_session_ic(&other, &one).to_bits());
        }

        #[test]
        fn different_purposes_fall_short_of_one(one in uniform13(0.1..=1.0f32), view in 0..KURAMOTO_N) {
            let mut other = one;
            other[view] = if one[view] < 0.5 { 1.0 } else { 0.0 };
            prop_assert!(cross_session_ic(&one, &other) < 1.0);
        }
    }
}
