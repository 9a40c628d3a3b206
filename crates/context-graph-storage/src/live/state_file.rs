//! The state file: the session at some position of its journal, replaced in place.
//!
//! Two descriptors at the front each name a range of the file. A writer fills a range that the current
//! descriptor does not name, then overwrites the *other* descriptor. So after a crash, and for concurrent
//! readers, the previous state is still there. Replacing the file by `rename` would also work, but costs thirty
//! times as much on ext4, which then writes the new file to disk at once.
//!
//! ```text
//! descriptor 0 (128 bytes) │ descriptor 1 (128 bytes) │ ranges …
//! ```
//! Descriptors and ranges have tags of the session's seal. The file is a cache: if a tag is wrong, it is rebuilt from
//! the journal.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use super::Position;
use super::frame::u64_at;
use crate::error::{IoContext, Result, StorageError};
use crate::seal::Seal;
use crate::system::FileExt as _;

const MAGIC: &[u8; 8] = b"CGstate\x02";
const SLOT: usize = 128;
const DATA: u64 = 2 * SLOT as u64;
/// Words of a descriptor after the magic; the last is the tag over all before it.
const WORDS: usize = 8;

/// The kinds of tags. The frames of a journal use smaller numbers.
const CONTENT: u64 = 16;
const DESCRIPTOR: u64 = 17;

/// The largest state that is stored, in bytes.
const MAX_STATE_BYTES: usize = 64 << 20;

/// How often a reader without a lock retries before it reports the file as damaged.
const ATTEMPTS: usize = 4;

/// A session's state and its position in the journal.
#[derive(Debug, Clone)]
pub struct LiveState {
    /// The state has the effects of all entries up to here.
    pub applied: Position,
    bytes: Vec<u8>,
    range: Range<usize>,
}

impl LiveState {
    /// The bytes, as they were written.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// The range of the current state in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    slot: usize,
    sequence: u64,
    applied: Position,
    at: u64,
    length: u64,
    checksum: u64,
}

/// The content of a state file.
#[derive(Debug)]
pub(crate) enum Content {
    Absent,
    Garbage,
    State(Descriptor, LiveState),
}

/// Reads the newest valid state.
pub(crate) fn read(seal: &Seal, file: &File, path: &Path) -> Result<Content> {
    for _ in 0..ATTEMPTS {
        match read_once(seal, file, path)? {
            // A writer may have finished twice while we read.
            Content::Garbage => {}
            other => return Ok(other),
        }
    }
    Ok(Content::Garbage)
}

fn read_once(seal: &Seal, file: &File, path: &Path) -> Result<Content> {
    // A small buffer, because clearing it touches its memory; large states need a second read.
    let mut bytes = vec![0; 4 << 10];
    let mut filled = file.read_at(&mut bytes, 0).context("read", path)?;
    if filled == 0 {
        return Ok(Content::Absent);
    }
    let mut found: Vec<Descriptor> =
        (0..2).filter_map(|slot| Descriptor::parse(seal, &bytes, slot)).collect();
    found.sort_unstable_by_key(|descriptor| std::cmp::Reverse(descriptor.sequence));
    for descriptor in found {
        let (Ok(start), Ok(length)) = (usize::try_from(descriptor.at), usize::try_from(descriptor.length))
        else {
            continue;
        };
        // An empty state may lie past the end of the file.
        let start = if length == 0 { 0 } else { start };
        let end = start.saturating_add(length);
        if length > MAX_STATE_BYTES || end > 4 * MAX_STATE_BYTES {
            continue;
        }
        if end > filled && filled == bytes.len() {
            bytes.resize(end, 0);
            filled += file.read_at(&mut bytes[filled..], filled as u64).context("read", path)?;
        }
        if end <= filled && content_check(seal, &bytes[start..end]) == descriptor.checksum {
            let state = LiveState { applied: descriptor.applied, bytes, range: start..end };
            return Ok(Content::State(descriptor, state));
        }
    }
    Ok(Content::Garbage)
}

/// Writes a state next to the `current` one and makes it current. The caller holds the session's lock.
pub(crate) fn write(
    seal: &Seal,
    file: &File,
    path: &Path,
    current: Option<Descriptor>,
    applied: Position,
    payload: &[u8],
) -> Result<Descriptor> {
    if payload.len() > MAX_STATE_BYTES {
        let problem = format!("state of {} bytes, the limit is {MAX_STATE_BYTES}", payload.len());
        return Err(StorageError::InvalidData(problem));
    }
    let length = payload.len() as u64;
    let (slot, sequence, at) = match current {
        None => (0, 1, DATA),
        Some(current) => {
            let before = DATA + length <= current.at;
            let at = if before { DATA } else { current.at + current.length };
            (1 - current.slot, current.sequence + 1, at)
        }
    };
    let descriptor =
        Descriptor { slot, sequence, applied, at, length, checksum: content_check(seal, payload) };
    file.write_all_at(payload, at).context("write", path)?;
    file.write_all_at(&descriptor.encode(seal), (slot * SLOT) as u64).context("write", path)?;
    Ok(descriptor)
}

fn content_check(seal: &Seal, bytes: &[u8]) -> u64 {
    seal.check(&[CONTENT], bytes)
}

fn descriptor_check(seal: &Seal, bytes: &[u8]) -> u64 {
    seal.check(&[DESCRIPTOR], bytes)
}

impl Descriptor {
    fn encode(&self, seal: &Seal) -> [u8; SLOT] {
        let mut bytes = [0; SLOT];
        bytes[..8].copy_from_slice(MAGIC);
        let Position { generation, offset, check } = self.applied;
        let words = [self.sequence, generation, offset, check, self.at, self.length, self.checksum];
        for (word, target) in words.iter().zip(bytes[8..].chunks_exact_mut(8)) {
            target.copy_from_slice(&word.to_le_bytes());
        }
        let sum = descriptor_check(seal, &bytes[..WORDS * 8]);
        bytes[WORDS * 8..][..8].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(seal: &Seal, file: &[u8], slot: usize) -> Option<Self> {
        let bytes = file.get(slot * SLOT..(slot + 1) * SLOT)?;
        if &bytes[..8] != MAGIC || descriptor_check(seal, &bytes[..WORDS * 8]) != u64_at(bytes, WORDS * 8) {
            return None;
        }
        let word = |index: usize| u64_at(bytes, 8 + index * 8);
        let descriptor = Self {
            slot,
            sequence: word(0),
            applied: Position { generation: word(1), offset: word(2), check: word(3) },
            at: word(4),
            length: word(5),
            checksum: word(6),
        };
        // A descriptor with the last sequence number, or with an invalid range, would block all later states.
        (descriptor.sequence < u64::MAX && descriptor.at >= DATA).then_some(descriptor)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    fn seal() -> Seal {
        Seal::new([1; 32])
    }

    fn file() -> (tempfile::TempDir, std::path::PathBuf, File) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
        (folder, path, file)
    }

    fn place(offset: u64) -> Position {
        Position { generation: 1, offset, check: 2 }
    }

    fn content(file: &File, path: &Path) -> Option<(u64, Vec<u8>)> {
        match read(&seal(), file, path).unwrap() {
            Content::State(_, state) => Some((state.applied.offset, state.payload().to_vec())),
            Content::Absent | Content::Garbage => None,
        }
    }

    #[test]
    fn a_descriptor_that_none_could_follow_is_none() {
        let (_folder, path, file) = file();
        let written = write(&seal(), &file, &path, None, place(1), b"state").unwrap();
        for strange in [Descriptor { sequence: u64::MAX, ..written }, Descriptor { at: DATA - 1, ..written }]
        {
            file.write_all_at(&strange.encode(&seal()), 0).unwrap();
            assert!(matches!(read(&seal(), &file, &path).unwrap(), Content::Garbage));
        }
    }

    #[test]
    fn the_last_state_written_is_read_whatever_the_sizes() {
        let (_folder, path, file) = file();
        assert!(matches!(read(&seal(), &file, &path).unwrap(), Content::Absent));
        let mut current = None;
        for (round, size) in [0, 10, 100_000, 16_000, 16_000, 1, 300_000, 5, 70_000].into_iter().enumerate() {
            let payload = vec![u8::try_from(round).unwrap(); size];
            current = Some(write(&seal(), &file, &path, current, place(round as u64), &payload).unwrap());
            assert_eq!(content(&file, &path), Some((round as u64, payload)));
        }
        assert!(file.metadata().unwrap().len() < 700_000, "space is used again");
    }

    #[test]
    fn a_writer_that_dies_at_any_byte_leaves_the_previous_state() {
        let (_folder, path, file) = file();
        let first = write(&seal(), &file, &path, None, place(1), &[1; 500]).unwrap();
        write(&seal(), &file, &path, Some(first), place(2), &[2; 500]).unwrap();
        let Content::State(current, _) = read(&seal(), &file, &path).unwrap() else { panic!("no state") };
        let before = std::fs::read(&path).unwrap();
        write(&seal(), &file, &path, Some(current), place(3), &[3; 400]).unwrap();
        let after = std::fs::read(&path).unwrap();
        // The range is written first, then the descriptor; either may be cut anywhere.
        for cut in 0..=400 {
            let mut bytes = before.clone();
            bytes[256..256 + cut].copy_from_slice(&after[256..256 + cut]);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(content(&file, &path), Some((2, vec![2; 500])), "stretch cut at {cut}");
        }
        for cut in 0..72 {
            let mut bytes = after.clone();
            bytes[cut..128].copy_from_slice(&before[cut..128]);
            std::fs::write(&path, &bytes).unwrap();
            let found = content(&file, &path).unwrap();
            assert!(found == (2, vec![2; 500]) || found == (3, vec![3; 400]), "descriptor cut at {cut}");
        }
    }

    #[test]
    fn any_flipped_byte_yields_an_older_state_or_none_and_writing_goes_on() {
        let (_folder, path, file) = file();
        let first = write(&seal(), &file, &path, None, place(1), b"one").unwrap();
        write(&seal(), &file, &path, Some(first), place(2), b"two").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            std::fs::write(&path, &bytes).unwrap();
            let (current, old) = match read(&seal(), &file, &path).unwrap() {
                Content::State(descriptor, state) => (Some(descriptor), state.payload().to_vec()),
                Content::Garbage => (None, Vec::new()),
                Content::Absent => panic!("absent"),
            };
            assert!(old == b"one" || old == b"two" || old.is_empty(), "byte {at}");
            write(&seal(), &file, &path, current, place(3), b"three").unwrap();
            assert_eq!(content(&file, &path), Some((3, b"three".to_vec())), "byte {at}");
        }
    }
}
