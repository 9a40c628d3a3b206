//! Bytes as hexadecimal text: ids and paths may contain anything, even line breaks.

use std::fmt::Write as _;

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes from hexadecimal.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = (0..text.len()).step_by(2);
    is_hex.then(|| pairs.filter_map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_reads_back() {
        assert_eq!(unhex(&hex(&[0, 1, 254])), Some(vec![0, 1, 254]));
        assert_eq!((unhex("0"), unhex("zz"), unhex("é!")), (None, None, None));
    }
}
