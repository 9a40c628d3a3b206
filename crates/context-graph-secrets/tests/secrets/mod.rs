//! Generated secrets in valid formats, and lookalikes.
//!
//! No complete token is in the source: each is assembled when the test runs, so that no code host's scanner
//! reports this folder as a leak.

pub(crate) mod by_look;
pub(crate) mod by_place;
pub(crate) mod fresh;
pub(crate) mod harmless;
pub(crate) mod lookalikes;

/// A secret and the text around it.
pub(crate) struct Positive {
    /// The kind that its marker must name; any kind if empty.
    pub kind: &'static str,
    pub text: String,
    pub secret: String,
}

pub(crate) const ALNUM: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const SMALL: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
pub(crate) const CAPITAL: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const BASE32: &str = "234567ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const URL_SAFE: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
pub(crate) const BASE64: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/";
pub(crate) const DIGITS: &str = "0123456789";

/// Generates characters, the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    /// `length` characters of this alphabet.
    pub(crate) fn draw(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| letters[self.next() as usize % letters.len()] as char).collect()
    }

    /// The bytes in Base64, with its padding.
    pub(crate) fn base64(bytes: &[u8]) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let word = three
                .iter()
                .enumerate()
                .fold(0_u32, |word, (at, &byte)| word | u32::from(byte) << (16 - 8 * at));
            for at in 0..4 {
                let sign = alphabet[(word >> (18 - 6 * at) & 63) as usize] as char;
                text.push(if at <= three.len() { sign } else { '=' });
            }
        }
        text
    }

    /// A UUID.
    pub(crate) fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|length| self.draw(HEX, length)).join("-")
    }
}
