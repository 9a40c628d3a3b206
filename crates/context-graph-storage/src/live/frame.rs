//! One frame of a journal: how bytes are delimited, checked, and found again after damage.
//!
//! ```text
//! magic 4 │ length 4 │ generation 8 │ before 8 │ payload … │ check 8      (little endian)
//! ```
//! The check is a tag of the session's seal over the whole frame: only this user can write a frame. `before` is
//! the check of the previous frame, so a frame that was removed or inserted again is detected by its
//! neighbours. The check comes last, so the eight bytes before any frame boundary identify everything written
//! up to it. The magic cannot occur in UTF-8, so text in a payload never looks like the start of a frame.

use crate::seal::Seal;

/// The largest payload of one frame, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 20;

/// Bytes before the payload.
pub(crate) const PREFIX: usize = 24;
/// Bytes after the payload: the check.
pub(crate) const SUFFIX: usize = 8;

/// The type of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The first frame of a journal.
    Header,
    /// One appended payload.
    Entry,
}

impl FrameKind {
    const fn magic(self) -> [u8; 4] {
        match self {
            Self::Header => [0xF5, 0xFF, b'H', 0xFE],
            Self::Entry => [0xF5, 0xFF, b'E', 0xFE],
        }
    }
}

/// A frame with a valid check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: FrameKind,
    pub(crate) generation: u64,
    /// The check of the previous frame.
    pub(crate) before: u64,
    pub(crate) payload: &'a [u8],
    pub(crate) check: u64,
}

impl Frame<'_> {
    /// Length of the whole frame on disk.
    pub(crate) fn size(&self) -> usize {
        PREFIX + self.payload.len() + SUFFIX
    }
}

/// Why bytes are not a valid frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// They end before the frame does.
    Cut,
    /// They do not start like a frame, or belong to another journal.
    Foreign,
    /// The check is wrong.
    Check,
}

/// The bytes before and after the payload of a frame. `before` is the check of the previous frame.
pub(crate) fn enclose(
    seal: &Seal,
    kind: FrameKind,
    generation: u64,
    before: u64,
    payload: &[u8],
) -> ([u8; PREFIX], [u8; SUFFIX]) {
    let mut prefix = [0; PREFIX];
    prefix[..4].copy_from_slice(&kind.magic());
    // The caller has checked the length against MAX_PAYLOAD_BYTES, which fits.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    prefix[4..8].copy_from_slice(&length.to_le_bytes());
    prefix[8..16].copy_from_slice(&generation.to_le_bytes());
    prefix[16..].copy_from_slice(&before.to_le_bytes());
    (prefix, check(seal, kind, generation, before, payload).to_le_bytes())
}

/// The frame at the start of `bytes`.
pub(crate) fn parse<'a>(seal: &Seal, bytes: &'a [u8]) -> Result<Frame<'a>, Flaw> {
    let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX>() else { return Err(Flaw::Cut) };
    let kind = match prefix[..4] {
        [0xF5, 0xFF, b'H', 0xFE] => FrameKind::Header,
        [0xF5, 0xFF, b'E', 0xFE] => FrameKind::Entry,
        _ => return Err(Flaw::Foreign),
    };
    let length = u32_at(prefix, 4) as usize;
    if length > MAX_PAYLOAD_BYTES {
        return Err(Flaw::Foreign);
    }
    let Some((payload, rest)) = rest.split_at_checked(length) else { return Err(Flaw::Cut) };
    let Some((said, _)) = rest.split_first_chunk::<SUFFIX>() else { return Err(Flaw::Cut) };
    let (generation, before) = (u64_at(prefix, 8), u64_at(prefix, 16));
    let frame = Frame { kind, generation, before, payload, check: u64::from_le_bytes(*said) };
    if check(seal, kind, generation, before, payload) != frame.check {
        return Err(Flaw::Check);
    }
    Ok(frame)
}

/// The start of the next valid frame, at or after `from`.
pub(crate) fn find(seal: &Seal, bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0xF5)?;
        if parse(seal, &bytes[at..]).is_ok() {
            return Some(at);
        }
        at += 1;
    }
}

/// Whether invalid bytes were once an acknowledged frame. The beginning of a frame whose writer died was not
/// acknowledged, and neither were zeros left by a power cut.
pub(crate) fn is_loss(seal: &Seal, bytes: &[u8]) -> bool {
    if bytes.iter().all(|byte| *byte == 0) {
        return false;
    }
    match parse(seal, bytes) {
        Err(Flaw::Cut) => has_all_but_its_length(seal, bytes),
        _ => true,
    }
}

/// Whether a frame that seems to end too early is valid except for its length field.
fn has_all_but_its_length(seal: &Seal, bytes: &[u8]) -> bool {
    let Some(length) = bytes.len().checked_sub(PREFIX + SUFFIX).and_then(|it| u32::try_from(it).ok()) else {
        return false;
    };
    let mut mended = bytes.to_vec();
    mended[4..8].copy_from_slice(&length.to_le_bytes());
    parse(seal, &mended).is_ok()
}

/// The check of a frame. Its last byte is never the first byte of a frame: otherwise the next frame could complete a frame
/// that lacks its last byte.
fn check(seal: &Seal, kind: FrameKind, generation: u64, before: u64, payload: &[u8]) -> u64 {
    seal.check(&[kind as u64, generation, before], payload) & (u64::MAX >> 1)
}

fn u32_at(bytes: &[u8; PREFIX], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads eight little-endian bytes at `at`; the caller knows that they exist.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal() -> Seal {
        Seal::new([1; 32])
    }

    fn frame(payload: &[u8]) -> Vec<u8> {
        let (prefix, suffix) = enclose(&seal(), FrameKind::Entry, 7, 99, payload);
        [&prefix[..], payload, &suffix[..]].concat()
    }

    #[test]
    fn a_frame_reads_back_under_its_own_seal_alone() {
        for payload in [&b""[..], b"x", &[0xF5; 40]] {
            let bytes = frame(payload);
            let parsed = parse(&seal(), &bytes).unwrap();
            assert_eq!((parsed.payload, parsed.generation, parsed.before), (payload, 7, 99));
            assert_eq!(parsed.size(), bytes.len());
            assert_eq!(parse(&Seal::new([2; 32]), &bytes).unwrap_err(), Flaw::Check);
        }
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let bytes = frame(b"some payload");
        for end in 0..bytes.len() {
            assert_eq!(parse(&seal(), &bytes[..end]).unwrap_err(), Flaw::Cut);
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&seal(), &damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_frame_without_its_end_is_never_completed_by_the_one_behind_it() {
        let behind = frame(b"behind");
        for number in 0..2_000_u32 {
            let whole = frame(&number.to_le_bytes());
            let torn = [&whole[..whole.len() - 1], &behind].concat();
            assert_eq!(parse(&seal(), &torn).unwrap_err(), Flaw::Check, "{number}");
            assert_eq!(find(&seal(), &torn, 0), Some(whole.len() - 1), "{number}");
        }
    }

    #[test]
    fn a_torn_frame_is_no_loss_and_a_changed_one_is() {
        let whole = frame(b"some payload");
        for end in 0..whole.len() {
            assert!(!is_loss(&seal(), &whole[..end]), "cut at {end}");
        }
        assert!(!is_loss(&seal(), &[0; 40]));
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            assert!(is_loss(&seal(), &changed), "byte {at}");
        }
    }

    #[test]
    fn the_next_frame_is_found_behind_garbage() {
        let good = frame(b"good");
        let mut bytes = frame(b"torn");
        bytes.truncate(20);
        bytes.extend([0xF5, 0xFF, b'E', 0xFE, 0xF5]);
        let start = bytes.len();
        bytes.extend(&good);
        assert_eq!(find(&seal(), &bytes, 0), Some(start));
        assert_eq!(find(&seal(), &bytes, start + 1), None);
        assert_eq!(find(&seal(), &bytes, bytes.len() + 9), None);
    }
}
