//! The first frame of a journal: its format, its generation, what it continues and its session.

use std::fs::File;
use std::path::Path;

use super::Position;
use super::frame::{self, FrameKind, PREFIX, SUFFIX};
use crate::error::{IoContext, Result, StorageError};
use crate::safe_open::random;
use crate::seal::Seal;
use crate::session_key::MAX_SESSION_ID_BYTES;
use crate::system::FileExt as _;

/// The newest journal format that is read, and the one that is written.
const FORMAT: u16 = 2;
/// The format, then the position that the journal continues; the session's id follows.
const FIXED: usize = 2 + 24;
/// The longest header on disk, in bytes.
pub(crate) const MAX_BYTES: usize = PREFIX + FIXED + MAX_SESSION_ID_BYTES + SUFFIX;

/// The contents of a journal's header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    pub(crate) generation: u64,
    /// Where the previous journal ended when it was folded; `None` for a journal that started from nothing.
    pub(crate) follows: Option<Position>,
    /// The position directly after the header.
    pub(crate) start: Position,
}

impl Header {
    /// Whether nothing was ever written before this position: neither here nor in a journal that this one follows.
    pub(crate) fn is_first(&self, place: Position) -> bool {
        self.follows.is_none() && place.offset == self.start.offset
    }
}

/// What is at the start of a journal file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FoundHeader {
    Empty,
    Whole(Header),
    Damaged,
}

/// Reads the header of `file`, the journal of session `id`.
pub(crate) fn read(seal: &Seal, file: &File, path: &Path, id: &str) -> Result<FoundHeader> {
    let mut bytes = [0; MAX_BYTES];
    let length = file.read_at(&mut bytes, 0).context("read", path)?;
    if length == 0 {
        return Ok(FoundHeader::Empty);
    }
    let Ok(frame) = frame::parse(seal, &bytes[..length]) else { return Ok(FoundHeader::Damaged) };
    if frame.kind != FrameKind::Header {
        return Ok(FoundHeader::Damaged);
    }
    let Some((header, owner)) = decode(&frame, path)? else { return Ok(FoundHeader::Damaged) };
    if owner != id.as_bytes() {
        let owner = String::from_utf8_lossy(owner);
        return Err(StorageError::InvalidData(format!("{} belongs to session {owner:?}", path.display())));
    }
    Ok(FoundHeader::Whole(header))
}

/// The session id in the header of the journal `file`. Only the session's seal can prove that it is correct.
pub(crate) fn owner(file: &File) -> Option<String> {
    let mut bytes = [0; MAX_BYTES];
    let length = file.read_at(&mut bytes, 0).ok()?;
    let said = bytes.get(4..8)?;
    let payload = u32::from_le_bytes(std::array::from_fn(|at| said[at])) as usize;
    let payload = bytes[..length].get(PREFIX..)?.get(..payload)?;
    String::from_utf8(payload.get(FIXED..)?.to_vec()).ok()
}

/// Header and session id of a header frame; `None` if the frame is too short.
pub(crate) fn decode<'a>(frame: &frame::Frame<'a>, path: &Path) -> Result<Option<(Header, &'a [u8])>> {
    let Some((fixed, owner)) = frame.payload.split_at_checked(FIXED) else { return Ok(None) };
    let format = u16::from_le_bytes([fixed[0], fixed[1]]);
    if format > FORMAT {
        let what = format!("journal {}", path.display());
        return Err(StorageError::TooNew { what, found: format, supported: FORMAT });
    }
    let follows = Position {
        generation: frame::u64_at(fixed, 2),
        offset: frame::u64_at(fixed, 10),
        check: frame::u64_at(fixed, 18),
    };
    let start = Position { generation: frame.generation, offset: frame.size() as u64, check: frame.check };
    let follows = (follows.generation != 0).then_some(follows);
    Ok(Some((Header { generation: frame.generation, follows, start }, owner)))
}

/// The bytes of a new header.
pub(crate) fn encode(seal: &Seal, generation: u64, follows: Option<Position>, id: &str) -> (Header, Vec<u8>) {
    let mut payload = Vec::with_capacity(FIXED + id.len());
    payload.extend(FORMAT.to_le_bytes());
    let before = follows.unwrap_or(Position { generation: 0, offset: 0, check: 0 });
    for word in [before.generation, before.offset, before.check] {
        payload.extend(word.to_le_bytes());
    }
    payload.extend(id.as_bytes());
    let (prefix, suffix) = frame::enclose(seal, FrameKind::Header, generation, 0, &payload);
    let bytes = [&prefix[..], &payload, &suffix].concat();
    let start = Position { generation, offset: bytes.len() as u64, check: u64::from_le_bytes(suffix) };
    (Header { generation, follows, start }, bytes)
}

/// A generation that no other journal has. 0 means none.
pub(crate) fn new_generation(path: &Path) -> Result<u64> {
    let generation = u64::from_le_bytes(random().context("draw a number for", path)?);
    Ok(generation.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal() -> Seal {
        Seal::new([1; 32])
    }

    #[test]
    fn a_header_reads_back_and_says_what_it_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let before = Position { generation: 3, offset: 99, check: 7 };
        let (written, bytes) = encode(&seal(), 5, Some(before), "a/b\0c");
        std::fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        let FoundHeader::Whole(header) = read(&seal(), &file, &path, "a/b\0c").unwrap() else {
            panic!("not whole")
        };
        assert_eq!((header.generation, header.follows, header.start), (5, Some(before), written.start));
        assert_eq!(owner(&file).as_deref(), Some("a/b\0c"));
        assert!(matches!(read(&seal(), &file, &path, "other"), Err(StorageError::InvalidData(_))));
    }

    #[test]
    fn a_newer_journal_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        let (_, mut bytes) = encode(&seal(), 5, None, "s");
        let payload = bytes.len() - SUFFIX;
        bytes[PREFIX] = 3;
        let (_, suffix) = frame::enclose(&seal(), FrameKind::Header, 5, 0, &bytes[PREFIX..payload]);
        bytes[payload..].copy_from_slice(&suffix);
        std::fs::write(&path, &bytes).unwrap();
        let error = read(&seal(), &File::open(&path).unwrap(), &path, "s").unwrap_err();
        assert!(matches!(error, StorageError::TooNew { found: 3, supported: 2, .. }), "{error}");
    }

    #[test]
    fn generations_differ() {
        let drawn: std::collections::HashSet<_> =
            (0..1000).map(|_| new_generation(Path::new("j")).unwrap()).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
