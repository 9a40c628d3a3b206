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
    assert_eq!(hashes, [0x5e83_6fe4_9f4c_797d, 0xfc91_a384_659b_0484, 0x6f0a_6323_d3bb_1ec6]);
}

/// These change when the model is fitted again, and then only.
#[test]
fn identity_continuities_are_bit_equal() {
    let hashes = ["steady", "drift", "stuck"]
        .map(|name| hash(scored(name).into_iter().map(|assessment| assessment.ic)));
    assert_eq!(hashes, [0xd7be_d2dd_898c_4a8e, 0x8180_c0b7_bbdd_300e, 0xad17_4ec0_d8dc_e006]);
}
