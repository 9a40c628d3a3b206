//! The bytes of a snapshot: a header that stays the same in all formats, then the format's own encoding.
//!
//! ```text
//! "CGSS" │ format 2 │ checksum 8 │ postcard …      (little endian)
//! ```
//! A released format stays readable for ever: it gets its own arm in [`decode`]. A newer format is refused, but
//! is not damage.

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Result, StorageError};

/// The first bytes of an encoded snapshot.
pub const MAGIC: &[u8; 4] = b"CGSS";
const HEADER: usize = 4 + 2 + 8;

/// The format that is written, and the newest that is read.
pub const SNAPSHOT_FORMAT: u16 = 1;

/// Why bytes are not a usable snapshot.
#[derive(Debug, PartialEq, Eq)]
pub enum SnapshotFlaw {
    /// They are not valid.
    Damaged(&'static str),
    /// They have a newer format.
    TooNew(u16),
}

/// Encodes `snapshot`.
pub fn encode(snapshot: &SessionIdentitySnapshot) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER + snapshot.estimated_size());
    bytes.extend(MAGIC);
    bytes.extend(SNAPSHOT_FORMAT.to_le_bytes());
    bytes.extend([0; 8]);
    let mut bytes = postcard::to_extend(snapshot, bytes)?;
    let sum = checksum(SNAPSHOT_FORMAT, &bytes[HEADER..]);
    bytes[6..HEADER].copy_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// Decodes the snapshot in `bytes`.
pub fn decode(bytes: &[u8]) -> Result<SessionIdentitySnapshot, SnapshotFlaw> {
    let Some((header, body)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(SnapshotFlaw::Damaged("it is cut short"));
    };
    if &header[..4] != MAGIC {
        return Err(SnapshotFlaw::Damaged("it is not a snapshot"));
    }
    let format = u16::from_le_bytes([header[4], header[5]]);
    let mut sum = [0; 8];
    sum.copy_from_slice(&header[6..]);
    // Checked before the format is used: a flipped bit in it is damage, not a newer program.
    if checksum(format, body) != u64::from_le_bytes(sum) {
        return Err(SnapshotFlaw::Damaged("its checksum is wrong"));
    }
    match format {
        1 => match postcard::take_from_bytes(body) {
            Ok((snapshot, [])) => Ok(snapshot),
            _ => Err(SnapshotFlaw::Damaged("it does not decode")),
        },
        newer => Err(SnapshotFlaw::TooNew(newer)),
    }
}

impl SnapshotFlaw {
    /// The error for a snapshot of a newer format; `None` for a damaged one, which the caller moves to quarantine.
    pub(crate) fn too_new(&self, session_id: &str) -> Option<StorageError> {
        match *self {
            Self::Damaged(_) => None,
            Self::TooNew(found) => {
                let what = format!("snapshot of session {session_id}");
                Some(StorageError::TooNew { what, found, supported: SNAPSHOT_FORMAT })
            }
        }
    }
}

fn checksum(format: u16, body: &[u8]) -> u64 {
    xxh3_64_with_seed(body, u64::from(format))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snapshot() -> SessionIdentitySnapshot {
        let mut snapshot = SessionIdentitySnapshot::with_timestamp("session", 1_700_000_000_000);
        snapshot.previous_session_id = Some("before".into());
        snapshot.append_to_trajectory([0.25; 13]);
        snapshot.purpose_vector = [0.5; 13];
        snapshot
    }

    /// Written by the first release. It must stay readable for ever.
    const FORMAT_1: &str = include_str!("../tests/fixtures/snapshot-1.hex");

    #[test]
    fn a_snapshot_of_the_first_format_is_still_read() {
        let text: String = FORMAT_1.split_whitespace().collect();
        let bytes: Vec<u8> =
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
        let read = decode(&bytes).unwrap();
        assert_eq!(read.session_id, "session");
        assert_eq!(read.previous_session_id.as_deref(), Some("before"));
        assert_eq!((read.timestamp_ms, read.trajectory.len()), (1_700_000_000_000, 1));
        assert_eq!(read.purpose_vector.map(f32::to_bits), [0.5_f32.to_bits(); 13]);
        assert_eq!(encode(&read).unwrap(), bytes, "still the format that is written");
    }

    #[test]
    fn a_newer_format_is_refused_and_not_called_damage() {
        let mut bytes = encode(&snapshot()).unwrap();
        bytes[4] = 2;
        assert!(matches!(decode(&bytes), Err(SnapshotFlaw::Damaged(_))), "a flipped bit is no newer format");
        let sum = checksum(2, &bytes[HEADER..]);
        bytes[6..HEADER].copy_from_slice(&sum.to_le_bytes());
        assert_eq!(decode(&bytes), Err(SnapshotFlaw::TooNew(2)));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let bytes = encode(&snapshot()).unwrap();
        assert_eq!(decode(&bytes).unwrap(), snapshot());
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err());
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(decode(&damaged), Err(SnapshotFlaw::Damaged(_))), "bit {bit}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode(&longer).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&bytes);
            // With a valid header they reach the decoder itself.
            let mut dressed = [&MAGIC[..], &1_u16.to_le_bytes(), &checksum(1, &bytes).to_le_bytes()].concat();
            dressed.extend(&bytes);
            let _ = decode(&dressed);
        }
    }
}
