//! The same sessions give the same bits on every machine.

use super::playing::scored;

/// FNV-1a over the bits of some numbers.
fn hash(numbers: impl IntoIterator<Item = f32>) -> u64 {
    numbers
        .into_iter()
        .flat_map(|number| number.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn purpose_vectors_are_bit_equal() {
    let hashes = ["steady", "drift", "stuck"]
        .map(|name| hash(scored(name).into_iter().flat_map(|assessment| assessment.purpose_vector)));
    assert_eq!(hashes, [0xb534_eb4e_c3c9_9da4, 0x4be5_547e_09f7_45df, 0x0b66_aa7b_4008_d620]);
}

/// These values change only when the model is fitted again or the weight of a failure changes.
#[test]
fn identity_continuities_are_bit_equal() {
    let hashes = ["steady", "drift", "stuck"]
        .map(|name| hash(scored(name).into_iter().map(|assessment| assessment.ic)));
    assert_eq!(hashes, [0x0c6b_0fef_f241_2132, 0xa17c_6e08_acb6_8b85, 0x1b7b_45df_8656_7784]);
}
