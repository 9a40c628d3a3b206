//! BLAKE3 of what is short, without the library's question which code is the fastest on this processor: on a virtual
//! machine that takes ten times as long as the hash, and the start of a session has nothing else to hash.

use blake3::Hash;
use blake3::platform::Platform;

/// What is longer is hashed in parts that are then joined, which is the library's.
const CHUNK: usize = 1024;
const BLOCK: usize = 64;

/// What BLAKE3 begins with, as its specification has it: that of SHA-256.
const BEGINNING: [u32; 8] =
    [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];
const FIRST_BLOCK: u8 = 1;
const LAST_BLOCK: u8 = 2;
const WHOLE: u8 = 8;

/// The same as [`blake3::hash`].
pub(super) fn short_hash(bytes: &[u8]) -> Hash {
    if bytes.len() > CHUNK {
        return blake3::hash(bytes);
    }
    let mut words = BEGINNING;
    let count = bytes.len().div_ceil(BLOCK).max(1);
    for number in 0..count {
        let part = &bytes[number * BLOCK..bytes.len().min((number + 1) * BLOCK)];
        let mut block = [0; BLOCK];
        block[..part.len()].copy_from_slice(part);
        let mut flags = if number == 0 { FIRST_BLOCK } else { 0 };
        if number + 1 == count {
            flags |= LAST_BLOCK | WHOLE;
        }
        // No part is longer than a block.
        let length = u8::try_from(part.len()).unwrap_or(u8::MAX);
        Platform::Portable.compress_in_place(&mut words, &block, length, 0, flags);
    }
    let mut hash = [0; 32];
    for (bytes, word) in hash.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    hash.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_librarys_hash() {
        let bytes: Vec<u8> = (0..1100_u32).map(|number| (number * 7 % 251) as u8).collect();
        for length in 0..bytes.len() {
            assert_eq!(short_hash(&bytes[..length]), blake3::hash(&bytes[..length]), "{length}");
        }
    }
}
