//! The marker that replaces a secret: `[redacted:KIND:FINGERPRINT]`.
//!
//! The fingerprint is a keyed hash. Equal secrets have equal fingerprints, but without the key nobody can look
//! one up or check a guess.

use super::bytes::{BASE64, HEX, all, is};
use super::kind::Kind;

const OPENING: &[u8] = b"[redacted:";

/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 8;

/// The longest label of a kind that is looked for.
const MAX_LABEL: usize = 40;

/// The marker for this secret.
pub(super) fn marker(key: &[u8; 32], kind: Kind, secret: &str) -> String {
    let [a, b, c, d, ..] = match kind {
        Kind::PRIVATE_KEY | Kind::SSH_PRIVATE_KEY | Kind::PGP_PRIVATE_KEY => {
            hash_of(key, &bare_block(secret.as_bytes()))
        }
        _ => hash_of(key, secret.as_bytes()),
    };
    format!("[redacted:{}:{:0DIGITS$x}]", kind.label(), u32::from_be_bytes([a, b, c, d]))
}

/// The keyed hash of a secret.
pub(super) fn hash_of(key: &[u8; 32], secret: &[u8]) -> [u8; 32] {
    *blake3::keyed_hash(key, secret).as_bytes()
}

/// A key block without line breaks, escapes and indentation, so that the same key is equal however it is
/// wrapped.
fn bare_block(block: &[u8]) -> Vec<u8> {
    let mut bare = Vec::with_capacity(block.len());
    let mut escaped = false;
    for &byte in block {
        if !escaped && is(byte, BASE64) {
            bare.push(byte);
        }
        escaped = byte == b'\\';
    }
    bare
}

/// The end of the marker that begins here, if there is one. Only what this crate could have written counts:
/// anything looser would be a way past the scan.
pub(super) fn end_of_marker(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(OPENING)?;
    let label = rest.iter().take(MAX_LABEL).position(|&byte| byte == b':')?;
    Kind::of_label(rest.get(..label)?)?;
    let digits = rest.get(label + 1..label + 1 + DIGITS)?;
    let closed = rest.get(label + 1 + DIGITS) == Some(&b']');
    (closed && all(digits, HEX)).then_some(at + OPENING.len() + label + DIGITS + 2)
}

pub(super) fn has_marker(bytes: &[u8]) -> bool {
    bytes
        .windows(OPENING.len())
        .enumerate()
        .any(|(at, window)| window == OPENING && end_of_marker(bytes, at).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_recognised_and_nothing_looser() {
        let key = [7; 32];
        let text = marker(&key, Kind::PASSWORD, "hunter2");
        assert_eq!(end_of_marker(text.as_bytes(), 0), Some(text.len()));
        assert!(has_marker(format!("a{text}b").as_bytes()));
        for loose in ["[redacted:none:00000000]", "[redacted:password:0000]", "[redacted:password:0000000g]"]
        {
            assert_eq!(end_of_marker(loose.as_bytes(), 0), None);
        }
    }

    #[test]
    fn equal_secrets_have_equal_fingerprints_under_one_key_only() {
        let of = |key: u8, secret: &str| marker(&[key; 32], Kind::TOKEN, secret);
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
        assert_ne!(of(1, "a"), of(2, "a"));
    }

    #[test]
    fn a_key_is_the_same_however_it_is_wrapped() {
        let of = |secret: &str| marker(&[1; 32], Kind::PRIVATE_KEY, secret);
        assert_eq!(of("\nMIIE\nabcd\n"), of("\\nMIIE\\nabcd\\n"));
        assert_eq!(of("\nMIIE\nabcd\n"), of("\n    MIIE\n    abcd\n"));
    }
}
