//! Sine and cosine that give the same bits on every machine.
//!
//! The platform's functions may differ in the last digit, and a coupled system would amplify that difference
//! until two machines disagree about a session. These functions use exact operations only. For `|x| < 1e6` the
//! error is below 1e-9. Beyond that the limited precision of `TAU` shows, but phases stay on the circle and
//! never get there.

use std::f64::consts::{FRAC_PI_2, TAU};

/// Taylor coefficients of `sin x / x` in `x²`, highest first: the next term is below 2e-14 on `[-π/4, π/4]`.
const SINE: [f64; 7] = [
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5_040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
    1.0,
];

/// Taylor coefficients of `cos x` in `x²`, highest first.
const COSINE: [f64; 8] = [
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -0.5,
    1.0,
];

/// `x` as an angle in `[0, 2π)`; 0 if `x` is not finite.
pub fn wrap(x: f64) -> f64 {
    if !x.is_finite() {
        return 0.0;
    }
    let angle = x.rem_euclid(TAU);
    // A tiny negative angle rounds up to the full circle.
    if angle < TAU { angle } else { 0.0 }
}

/// Sine and cosine of `x`, computed together because they share the range reduction. Every input gives two
/// numbers in `[-1, 1]`.
pub fn sin_cos(x: f64) -> (f64, f64) {
    let angle = wrap(x);
    let quarter = (angle / FRAC_PI_2).round();
    let rest = angle - quarter * FRAC_PI_2;
    let square = rest * rest;
    let sine = (rest * polynomial(&SINE, square)).clamp(-1.0, 1.0);
    let cosine = polynomial(&COSINE, square).clamp(-1.0, 1.0);
    if quarter < 0.5 {
        (sine, cosine)
    } else if quarter < 1.5 {
        (cosine, -sine)
    } else if quarter < 2.5 {
        (-sine, -cosine)
    } else if quarter < 3.5 {
        (-cosine, sine)
    } else {
        (sine, cosine)
    }
}

fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::any_f64;

    #[test]
    fn the_quarters_of_the_circle_are_right() {
        for (turns, sine, cosine) in
            [(0.0, 0.0, 1.0), (1.0, 1.0, 0.0), (2.0, 0.0, -1.0), (3.0, -1.0, 0.0), (4.0, 0.0, 1.0)]
        {
            let (s, c) = sin_cos(turns * FRAC_PI_2);
            assert!((s - sine).abs() < 1e-15 && (c - cosine).abs() < 1e-15, "{turns} quarters: {s}, {c}");
        }
    }

    #[test]
    fn a_tiny_negative_angle_is_zero_and_not_the_full_circle() {
        assert_eq!(wrap(-1e-300).to_bits(), 0.0f64.to_bits());
        assert_eq!(wrap(TAU).to_bits(), 0.0f64.to_bits());
    }

    proptest! {
        #[test]
        fn agrees_with_the_platform(x in -1e6..1e6f64) {
            let (s, c) = sin_cos(x);
            prop_assert!((s - x.sin()).abs() < 1e-9);
            prop_assert!((c - x.cos()).abs() < 1e-9);
        }

        #[test]
        fn agrees_closely_on_the_circle(x in 0.0..TAU) {
            let (s, c) = sin_cos(x);
            prop_assert!((s - x.sin()).abs() < 1e-13);
            prop_assert!((c - x.cos()).abs() < 1e-13);
        }

        #[test]
        fn is_defined_everywhere(x in any_f64()) {
            let (s, c) = sin_cos(x);
            prop_assert!(s.abs() <= 1.0 && c.abs() <= 1.0);
            prop_assert!((0.0..TAU).contains(&wrap(x)));
        }

        #[test]
        fn wrapping_twice_changes_nothing(x in any_f64()) {
            prop_assert_eq!(wrap(wrap(x)).to_bits(), wrap(x).to_bits());
        }
    }
}
