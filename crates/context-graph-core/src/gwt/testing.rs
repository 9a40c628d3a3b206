//! Inputs that the property tests share; `tests/laws` includes this file too.

use proptest::array::uniform13;
use proptest::prelude::*;

/// Any bit pattern, with special values far more often than by chance.
///
/// Boxed, because arrays of unions of strategies are too large for a test thread's stack.
pub(crate) fn any_f32() -> BoxedStrategy<f32> {
    let special = vec![
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        -0.0,
        0.0,
        1.0,
    ];
    prop_oneof![any::<u32>().prop_map(f32::from_bits), prop::sample::select(special), 0.0..=1.0f32].boxed()
}

/// As [`any_f32`], for the wider type.
pub(crate) fn any_f64() -> BoxedStrategy<f64> {
    let special = vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::from_bits(1), -1e-300];
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        any_f32().prop_map(f64::from),
        prop::sample::select(special),
        -10.0..10.0f64,
    ]
    .boxed()
}

/// A purpose vector that may hold anything.
pub(crate) fn any_vector() -> impl Strategy<Value = [f32; 13]> {
    uniform13(any_f32())
}
