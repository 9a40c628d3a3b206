//! Detects pairs of letters that do not occur in words.
//!
//! Random letters without digits look like a word to rules that count character classes. But about half of all
//! letter pairs, such as `jq` or `vx`, are rare in words, and random text has many of them.

use super::bytes::{LETTER, is};

/// For each first letter, a bit set of the second letters that rarely follow it in English words and in code.
/// These are 340 of the 676 pairs, but only 2 % of the pairs in such words.
#[rustfmt::skip]
const RARE: [u32; 26] = [
    0x201_4211, 0x2e1_34e8, 0x2e1_a262, 0x2c1_96e6, 0x200_0200, 0x2e1_b6ce, 0x3e9_862e, 0x3e1_aeee, 0x151_0380,
    0x3ef_bfee, 0x3fb_d6ee, 0x2c3_16c2, 0x3e3_2ee4, 0x281_0200, 0x301_0280, 0x2e1_3662, 0x3ef_ffff, 0x281_0280,
    0x2a1_0242, 0x281_0642, 0x3f1_0680, 0x3ff_beee, 0x3f9_9e6e, 0x377_7eeb, 0x3f3_06ef, 0x3ff_feee,
];

/// Fewer pairs are not enough to decide.
const LEAST: usize = 9;

/// Whether at least a quarter of the letter pairs are rare.
pub(super) fn is_gibberish(value: &[u8]) -> bool {
    let (mut pairs, mut rare) = (0, 0);
    for pair in value.windows(2) {
        if is(pair[0], LETTER) && is(pair[1], LETTER) {
            let of = |byte: u8| usize::from((byte | 0x20) - b'a');
            pairs += 1;
            rare += usize::from(RARE[of(pair[0])] >> of(pair[1]) & 1 != 0);
        }
    }
    pairs >= LEAST && rare * 4 >= pairs
}

#[cfg(test)]
mod tests {
    use super::is_gibberish;

    #[test]
    fn random_letters_are_told_from_words() {
        for value in ["qzkvtjwpxbnmrgdh", "XKQJVWZPTBGMHRLD", "hGtzqPwxVbnKjMrdfL"] {
            assert!(is_gibberish(value.as_bytes()), "{value}");
        }
        for value in [
            "authentication",
            "getElementsByTagName",
            "CONTINUOUS_INTEGRATION",
            "internationalization",
            "abc",
        ] {
            assert!(!is_gibberish(value.as_bytes()), "{value}");
        }
    }
}
