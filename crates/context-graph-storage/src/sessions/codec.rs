//! Sessions and records as bytes. Checksums are added by whoever writes them; here is only the format's version.

use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{EventRecord, Session};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Result, StorageError};

/// The format of a session beside its snapshot.
const SESSION_FORMAT: u8 = 1;
/// The format of a record.
const RECORD_FORMAT: u8 = 1;

/// A session as bytes.
pub fn encode_session(session: &Session) -> Result<Vec<u8>> {
    encode(SESSION_FORMAT, session)
}

/// A session from bytes.
pub fn decode_session(bytes: &[u8]) -> Result<Session> {
    decode("session", SESSION_FORMAT, bytes)
}

/// Only the snapshot of a session from bytes: it stands first, and the rest is twenty times as large.
pub(super) fn decode_snapshot(bytes: &[u8]) -> Option<SessionIdentitySnapshot> {
    let rest = bytes.strip_prefix(&[SESSION_FORMAT])?;
    postcard::take_from_bytes(rest).ok().map(|(snapshot, _)| snapshot)
}

/// A record as bytes.
pub fn encode_record(record: &EventRecord) -> Result<Vec<u8>> {
    encode(RECORD_FORMAT, record)
}

/// A record from bytes.
pub fn decode_record(bytes: &[u8]) -> Result<EventRecord> {
    decode("record", RECORD_FORMAT, bytes)
}

fn encode(format: u8, value: &impl Serialize) -> Result<Vec<u8>> {
    Ok(postcard::to_extend(value, vec![format])?)
}

fn decode<T: DeserializeOwned>(what: &str, format: u8, bytes: &[u8]) -> Result<T> {
    match bytes.split_first() {
        Some((found, rest)) if *found == format => {
            postcard::from_bytes(rest).map_err(|error| StorageError::InvalidData(format!("{what}: {error}")))
        }
        Some((found, _)) if *found > format => Err(StorageError::TooNew {
            what: format!("a {what}"),
            found: u16::from(*found),
            supported: u16::from(format),
        }),
        _ => Err(StorageError::InvalidData(format!("{what} without a format"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snapshot_stands_first() {
        let session = Session::new("s", "/p", 7);
        let bytes = encode_session(&session).unwrap();
        assert_eq!(decode_snapshot(&bytes), Some(session.snapshot.clone()));
        assert_eq!(decode_session(&bytes).unwrap(), session);
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let error = decode_session(&[SESSION_FORMAT + 1, 0, 0]).unwrap_err();
        assert!(error.to_string().contains("update context-graph"), "{error}");
        assert!(decode_record(&[]).is_err());
    }
}
