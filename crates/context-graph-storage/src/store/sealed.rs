//! Values with a checksum over key and content, so that a value under the wrong key is detected too.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const SUM: usize = 8;

/// `content` in its stored form under `key`.
pub(super) fn seal(key: &[u8], content: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(SUM + content.len());
    value.extend(checksum(key, content).to_le_bytes());
    value.extend(content);
    value
}

/// The content of a value stored under `key`; `None` if it is not valid.
pub(super) fn unseal<'a>(key: &[u8], value: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, content) = value.split_first_chunk::<SUM>()?;
    (checksum(key, content) == u64::from_le_bytes(*sum)).then_some(content)
}

fn checksum(key: &[u8], content: &[u8]) -> u64 {
    xxh3_64_with_seed(content, xxh3_64(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flipped_bit_and_no_other_key_goes_unnoticed() {
        let sealed = seal(b"key", b"bytes");
        assert_eq!(unseal(b"key", &sealed), Some(&b"bytes"[..]));
        assert_eq!(unseal(b"kez", &sealed), None);
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal(b"key", &damaged), None);
        }
        for end in 0..sealed.len() {
            assert_eq!(unseal(b"key", &sealed[..end]), None);
        }
    }
}
