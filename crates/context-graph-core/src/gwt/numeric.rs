//! Arithmetic that gives the same bits on every machine and is defined for every input.
//!
//! IEEE addition, multiplication, division and square root give the same result everywhere. Logarithm and cube
//! root differ between platform libraries, so they are built here from those exact operations.

use std::f64::consts::{LN_2, SQRT_2};

/// Clamps `x` to `[0, 1]`. A number that is not finite becomes 0, which no measure treats as good.
pub fn unit(x: f32) -> f32 {
    // The comparison also turns a negative zero into a plain one.
    if x.is_finite() && x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// The nearest `f32`. Values in `[0, 1]` stay there.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the stored precision is the purpose")]
pub fn narrow(x: f64) -> f32 {
    x as f32
}

/// The natural logarithm, with an error of about 1e-13 relative to the larger of the result and 1.
///
/// Arguments are clamped to the positive normal numbers. So zero, negative numbers and NaN give the logarithm
/// of the smallest one: very negative, but finite.
pub fn ln(x: f64) -> f64 {
    let mut mantissa = if x.is_nan() { f64::MIN_POSITIVE } else { x.clamp(f64::MIN_POSITIVE, f64::MAX) };
    let mut exponent = 0.0;
    // Halving and doubling are exact. Callers pass ratios and counts, so a few iterations are enough.
    while mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    while mantissa < SQRT_2 * 0.5 {
        mantissa *= 2.0;
        exponent -= 1.0;
    }
    // ln m = 2 artanh s, and |s| < 0.172 lets the series end early.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let s2 = s * s;
    let series = [1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0, 1.0]
        .iter()
        .fold(0.0, |sum, coefficient| sum * s2 + coefficient);
    exponent * LN_2 + 2.0 * s * series
}

/// The cube root of a number in `[0, 1]`. Arguments outside are clamped, and NaN counts as 0.
pub fn cube_root_of_unit(x: f64) -> f64 {
    // The first comparison is false for NaN, and below the normal numbers the root would not be accurate.
    let mut scaled = if x >= f64::MIN_POSITIVE { x.min(1.0) } else { return 0.0 };
    let mut scale = 1.0;
    while scaled < 0.125 {
        scaled *= 8.0;
        scale *= 0.5;
    }
    // On [1/8, 1] this line is near enough for five Newton steps to reach full precision.
    let mut root = 0.4 + 0.6 * scaled;
    for _ in 0..5 {
        root = (2.0 * root + scaled / (root * root)) / 3.0;
    }
    (root * scale).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::{any_f32, any_f64};

    #[test]
    fn what_is_not_finite_is_zero() {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -0.0] {
            assert_eq!(unit(x).to_bits(), 0.0f32.to_bits());
        }
        assert_eq!(unit(7.0).to_bits(), 1.0f32.to_bits());
        assert_eq!(unit(0.25).to_bits(), 0.25f32.to_bits());
    }

    #[test]
    fn logarithm_and_root_of_one_are_exact() {
        assert_eq!(ln(1.0).to_bits(), 0.0f64.to_bits());
        assert_eq!(cube_root_of_unit(1.0).to_bits(), 1.0f64.to_bits());
        assert_eq!(cube_root_of_unit(0.0).to_bits(), 0.0f64.to_bits());
    }

    proptest! {
        #[test]
        fn unit_is_always_in_range(x in any_f32()) {
            prop_assert!((0.0..=1.0).contains(&unit(x)));
        }

        #[test]
        fn logarithm_agrees_with_the_platform(mantissa in 1.0..2.0f64, exponent in -1000..1000i32) {
            for x in [mantissa, mantissa * 2.0f64.powi(exponent)] {
                prop_assert!((ln(x) - x.ln()).abs() <= 1e-12 * x.ln().abs().max(1.0));
            }
        }

        #[test]
        fn cube_root_agrees_with_the_platform(x in 0.0..=1.0f64, tiny in 0..300i32) {
            let x = x * 10.0f64.powi(-tiny);
            prop_assert!((cube_root_of_unit(x) - x.cbrt()).abs() <= 1e-12 * x.cbrt().max(1e-90));
        }

        #[test]
        fn both_are_defined_everywhere(x in any_f64()) {
            prop_assert!(ln(x).is_finite());
            prop_assert!((0.0..=1.0).contains(&cube_root_of_unit(x)));
        }
    }
}
