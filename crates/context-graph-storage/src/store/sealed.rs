//! Values with a checksum over key and content, so that a value under the wrong key is found out too.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::LogContent;

const SUM: usize = 8;
/// Length that stands for "no tool call".
pub(super) const NO_CALL: u16 = u16::MAX;

/// `content` as it is stored under `key`.
pub(super) fn seal(key: &[u8], content: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(SUM + content.len());
    value.extend(checksum(key, content).to_le_bytes());
    value.extend(content);
    value
}

/// The content of a value stored under `key`; none when it does not check out.
pub(super) fn unseal<'a>(key: &[u8], value: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, content) = value.split_first_chunk::<SUM>()?;
    (checksum(key, content) == u64::from_le_bytes(*sum)).then_some(content)
}

/// A log record as the first format stored it by itself: length of the call's id, id, bytes.
pub(super) fn single(content: &[u8]) -> Option<LogContent<'_>> {
    let (length, rest) = content.split_first_chunk::<2>()?;
    let length = u16::from_le_bytes(*length);
    if length == NO_CALL {
        return Some(LogContent { tool_use_id: None, bytes: rest });
    }
    let (id, bytes) = rest.split_at_checked(usize::from(length))?;
    Some(LogContent { tool_use_id: Some(std::str::from_utf8(id).ok()?), bytes })
}

/// Longest tool call id that a record can hold.
pub(super) const MAX_CALL_ID_BYTES: usize = NO_CALL as usize - 2;

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
