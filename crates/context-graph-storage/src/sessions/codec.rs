//! Sessions and records as bytes. The writers add checksums; this module only handles the version of the
//! format.

use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{
    Cut, EarlierSession, EventRecord, Link, RememberedFile, Ruling, Session, SessionBeginning, Work,
};
use context_graph_events::{DecodeError, Event};
use context_graph_secrets::Memory;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Result, StorageError};

/// The format of a session, except its snapshot.
const SESSION_FORMAT: u8 = 13;
/// A session of that format, compressed, for the store: it is kept for years, and nobody waits for it there.
const PACKED_SESSION: u8 = 14;
/// Formats that lack only the last fields, with the bytes that encode these fields as empty: 11 lacks the prompts
/// that the agent scheduled; 9 also lacks the title from Claude Code; 7 also the two lists of what is pending. Each
/// format plus one is the same format, compressed.
const SHORTER_SESSIONS: [(u8, &[u8]); 3] = [(7, &[0, 0, 0, 0]), (9, &[0, 0]), (11, &[0])];
/// Older formats, with the bytes that turn each into the last of them: they encode the added fields as empty. Each
/// format plus one is the same format, compressed.
const OLDER_SESSIONS: [(u8, &[u8]); 3] = [(1, &[0, 0]), (3, &[0]), (EARLIER_SESSION, &[])];
/// The last format without the times of each use.
const EARLIER_SESSION: u8 = 5;
/// The format of a record.
const RECORD_FORMAT: u8 = 3;
/// The record format before [`RECORD_FORMAT`], without its last field, which is a list.
const SECOND_RECORD: u8 = 2;
/// The first byte of a session or a record with a memory of secrets. The memory's length and the memory follow.
const REMEMBERING: u8 = 0x20;
/// The largest session, uncompressed.
const MAX_SESSION_BYTES: usize = 64 << 20;

/// A session as bytes.
pub fn encode_session(session: &Session) -> Result<Vec<u8>> {
    encode(SESSION_FORMAT, session)
}

/// The bytes of a session or a record with a memory of secrets in front. An empty memory adds nothing.
pub(super) fn remembering(memory: &[u8], bytes: Vec<u8>) -> Vec<u8> {
    match u16::try_from(memory.len()) {
        Ok(length @ 1..) => [&[REMEMBERING], &length.to_le_bytes()[..], memory, &bytes].concat(),
        _ => bytes,
    }
}

/// Splits the memory of secrets from a session or a record.
fn split_memory(bytes: &[u8]) -> (&[u8], &[u8]) {
    let split = || {
        let (length, rest) = bytes.strip_prefix(&[REMEMBERING])?.split_first_chunk()?;
        rest.split_at_checked(u16::from_le_bytes(*length).into())
    };
    split().unwrap_or((&[], bytes))
}

/// The secrets recognised up to here, or in this record.
pub(super) fn memory_of(bytes: &[u8]) -> Memory {
    Memory::from_bytes(split_memory(bytes).0)
}

/// Decodes a session, compressed or not.
pub fn decode_session(bytes: &[u8]) -> Result<Session> {
    let (_, bytes) = split_memory(bytes);
    match bytes.split_first() {
        Some((found, _)) if *found > PACKED_SESSION => decode("session", PACKED_SESSION, bytes),
        Some((found, packed)) if *found > 0 && found % 2 == 0 => decode_unpacked(&unpack(packed)?),
        _ => decode_unpacked(bytes),
    }
}

fn decode_unpacked(bytes: &[u8]) -> Result<Session> {
    let (found, rest) = bytes.split_first().unwrap_or((&0, &[]));
    match OLDER_SESSIONS.iter().find(|(older, _)| older == found) {
        Some((_, missing)) => {
            let whole = [&[EARLIER_SESSION], rest, missing].concat();
            decode::<EarlierSession>("session", EARLIER_SESSION, &whole).map(Session::from)
        }
        None => match SHORTER_SESSIONS.iter().find(|(shorter, _)| shorter == found) {
            Some((_, missing)) => {
                decode("session", SESSION_FORMAT, &[&[SESSION_FORMAT], rest, missing].concat())
            }
            None => decode("session", SESSION_FORMAT, bytes),
        },
    }
}

/// Whether a session of this format begins with the same fields as one of the newest format.
fn begins_alike(format: u8) -> bool {
    format == SESSION_FORMAT || SHORTER_SESSIONS.iter().any(|(shorter, _)| *shorter == format)
}

/// Compresses the bytes of a session for the store.
pub fn pack_session(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&[PACKED_SESSION][..], &length, &lz4_flex::block::compress(bytes)].concat()
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let unusable = || StorageError::InvalidData("session that does not unpack".to_owned());
    let (length, packed) = packed.split_first_chunk::<4>().ok_or_else(unusable)?;
    let length = u32::from_le_bytes(*length) as usize;
    // LZ4 compresses at most 255 to 1; a larger length is false and would only cost memory.
    if length > MAX_SESSION_BYTES || length / 256 > packed.len() {
        return Err(unusable());
    }
    lz4_flex::block::decompress(packed, length).map_err(|_| unusable())
}

/// Decodes only the snapshot of a session: it comes first, and the rest is twenty times as large.
pub(super) fn decode_snapshot(bytes: &[u8]) -> Option<SessionIdentitySnapshot> {
    let (_, bytes) = split_memory(bytes);
    let (found, rest) = bytes.split_first()?;
    let is_known = begins_alike(*found) || OLDER_SESSIONS.iter().any(|(older, _)| older == found);
    if !is_known {
        return None;
    }
    postcard::take_from_bytes(rest).ok().map(|(snapshot, _)| snapshot)
}

/// What a stored session worked on, and its project. Skips the memory of its views, which is ten times as
/// large.
pub(super) fn decode_work(bytes: &[u8]) -> Option<(Work, String)> {
    let (_, bytes) = split_memory(bytes);
    let unpacked = match bytes.split_first()? {
        (found, packed) if *found > 0 && begins_alike(*found - 1) => unpack(packed).ok()?,
        _ => bytes.to_vec(),
    };
    match unpacked.split_first()? {
        (found, rest) if begins_alike(*found) => {
            let (head, _) = postcard::take_from_bytes::<SessionBeginning>(rest).ok()?;
            Some((head.work, head.project))
        }
        _ => decode_session(bytes).ok().map(|session| (session.state.work, session.state.project)),
    }
}

/// A record as bytes.
pub fn encode_record(record: &EventRecord) -> Result<Vec<u8>> {
    encode(RECORD_FORMAT, record)
}

/// A record from bytes.
pub fn decode_record(bytes: &[u8]) -> Result<EventRecord> {
    let (_, bytes) = split_memory(bytes);
    match bytes.first() {
        Some(1) => decode::<FirstRecord>("record", 1, bytes).map(EventRecord::from),
        Some(&SECOND_RECORD) => {
            let nothing_remembered = [0];
            decode("record", RECORD_FORMAT, &[&[RECORD_FORMAT], &bytes[1..], &nothing_remembered].concat())
        }
        _ => decode("record", RECORD_FORMAT, bytes),
    }
}

/// A record in the current format whose texts lie where it was read.
#[derive(Deserialize)]
struct RecordHere<'a> {
    at_ms: i64,
    _tool_use_id: Option<&'a str>,
    payload: &'a str,
    took_us: u32,
    link: Option<Link>,
    ruling: Option<Ruling>,
    updated_input: Option<String>,
    cuts: Vec<Cut>,
    remembered: Vec<RememberedFile>,
}

/// Decodes a record into the event in its payload and the rest, without payload and call id. Nearly all records are of
/// the current format, and their payload is not copied.
pub(crate) fn decode_event(bytes: &[u8]) -> Result<(EventRecord, Result<Event, DecodeError>)> {
    let (_, own) = split_memory(bytes);
    let here = own.strip_prefix(&[RECORD_FORMAT]).and_then(|own| postcard::from_bytes(own).ok());
    let Some(RecordHere { at_ms, payload, took_us, link, ruling, updated_input, cuts, remembered, .. }) =
        here
    else {
        let record = decode_record(bytes)?;
        let event = record.event();
        return Ok((EventRecord { tool_use_id: None, payload: String::new(), ..record }, event));
    };
    let (event, tool_use_id, payload) = (Event::from_text(payload), None, String::new());
    let record =
        EventRecord { at_ms, tool_use_id, payload, took_us, link, ruling, updated_input, cuts, remembered };
    Ok((record, event))
}

/// A record in the first format.
#[derive(Deserialize)]
struct FirstRecord {
    at_ms: i64,
    tool_use_id: Option<String>,
    payload: String,
    took_us: u32,
    link: Option<Link>,
    ruling: Option<Ruling>,
}

impl From<FirstRecord> for EventRecord {
    fn from(first: FirstRecord) -> Self {
        let FirstRecord { at_ms, tool_use_id, payload, took_us, link, ruling } = first;
        let (updated_input, cuts, remembered) = (None, Vec::new(), Vec::new());
        Self { at_ms, tool_use_id, payload, took_us, link, ruling, updated_input, cuts, remembered }
    }
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
        let packed = pack_session(&bytes);
        assert_eq!(decode_session(&packed).unwrap(), session);
        assert_eq!(decode_work(&packed), Some((session.state.work.clone(), "/p".to_owned())));
        for end in 0..packed.len() {
            assert!(decode_session(&packed[..end]).is_err());
        }
    }

    /// A session in the earlier format. Postcard encodes a tuple like a struct.
    fn earlier(session: &Session) -> Vec<u8> {
        let state = &session.state;
        let file = ("/w/a.rs", 2u32, 1u32, 4u64);
        let failing: Vec<(&str, &str, &str, u32)> = vec![("Bash", "make", "no rule", 2)];
        let work =
            ("mend it", vec!["and this"], vec![file], failing, vec![("Bash `make`", 2u32)], vec!["a plan"]);
        let head = (state.lifecycle, &state.project, &state.transcript_path, &state.cwd, &state.model);
        let times = (state.started_ms, state.updated_ms, state.ended_ms, &state.end_reason);
        let link = (&state.link_origin, &state.previous_purpose, &state.counters, (1.0f32, 0.0f32));
        let rest = (&state.continuity, &state.looping, &state.last_dream, &state.unlogged_dream, &state.end);
        let no_recent_calls = 0u8;
        postcard::to_stdvec(&(&session.snapshot, head, times, link, work, rest, no_recent_calls)).unwrap()
    }

    #[test]
    fn sessions_of_earlier_formats_are_still_read() {
        let mut session = Session::new("s", "/p", 7);
        session.state.counters.events = 4;
        session.state.counters.calls_succeeded = 3;
        let whole = earlier(&session);
        for (format, missing) in OLDER_SESSIONS {
            let bytes = [&[format][..], &whole[..whole.len() - missing.len()]].concat();
            let mut packed = pack_session(&bytes);
            packed[0] = format + 1;
            for read in [decode_session(&bytes).unwrap(), decode_session(&packed).unwrap()] {
                let work = &read.state.work;
                assert_eq!((work.requests.first.as_str(), work.requests.last()), ("mend it", "and this"));
                let file = work.files.iter().next().unwrap();
                assert_eq!(
                    (file.path.as_str(), file.writes, file.uses.count(), work.calls),
                    ("/w/a.rs", 1, 3, 3)
                );
                assert_eq!(read.state.counters, session.state.counters);
                assert_eq!(decode_session(&encode_session(&read).unwrap()).unwrap(), read);
            }
            assert_eq!(decode_snapshot(&bytes), Some(session.snapshot.clone()));
            assert_eq!(decode_work(&packed).unwrap().0.requests.first, "mend it");
        }
    }

    #[test]
    fn sessions_that_lack_the_last_fields_are_still_read() {
        let mut session = Session::new("s", "/p", 7);
        session.state.work.requests.first = "mend it".to_owned();
        let bytes = encode_session(&session).unwrap();
        for (format, missing) in SHORTER_SESSIONS {
            let shorter = [&[format], &bytes[1..bytes.len() - missing.len()]].concat();
            let mut packed = pack_session(&shorter);
            packed[0] = format + 1;
            for older in [&shorter, &packed] {
                assert_eq!(decode_session(older).unwrap(), session);
                assert_eq!(decode_work(older).unwrap().0.requests.first, "mend it");
            }
            assert_eq!(decode_snapshot(&shorter), Some(session.snapshot.clone()));
        }
    }

    #[test]
    fn a_memory_of_secrets_stands_before_the_session() {
        let session = Session::new("s", "/p", 7);
        let mut memory = Memory::default();
        let redactor = context_graph_secrets::Redactor::new([3; 32]);
        let _ = redactor.redact_text_with("DEPLOY_TOKEN=k9Xw27LqPz41RtYv", &mut memory);
        let bytes = remembering(&memory.to_bytes(), encode_session(&session).unwrap());
        assert_eq!(memory_of(&bytes).to_bytes(), memory.to_bytes());
        assert_eq!(decode_session(&bytes).unwrap(), session);
        assert_eq!(decode_snapshot(&bytes), Some(session.snapshot.clone()));
        for end in 0..bytes.len() {
            assert!(decode_session(&bytes[..end]).is_err());
        }
        assert_eq!(remembering(&[], vec![3]), [3]);
    }

    #[test]
    fn an_event_is_decoded_as_its_record_is() {
        let record = EventRecord {
            at_ms: 5,
            tool_use_id: Some("call".to_owned()),
            payload: r#"{"hook_event_name":"Stop","session_id":"s","transcript_path":"","cwd":"/"}"#
                .to_owned(),
            took_us: 7,
            link: None,
            ruling: Some(Ruling {
                verdict: "ask".to_owned(),
                rules: vec!["r".to_owned()],
                reason: "why".to_owned(),
            }),
            updated_input: Some("{}".to_owned()),
            cuts: Vec::new(),
            remembered: Vec::new(),
        };
        let bytes = encode_record(&record).unwrap();
        let second = [&[SECOND_RECORD], &bytes[1..bytes.len() - 1]].concat();
        for bytes in [remembering(&[1, 2, 3], bytes.clone()), second, bytes.clone()] {
            let (read, event) = decode_event(&bytes).unwrap();
            assert_eq!(decode_record(&bytes).unwrap(), record);
            assert_eq!(read, EventRecord { tool_use_id: None, payload: String::new(), ..record.clone() });
            assert_eq!(event, record.event());
        }
        for end in 0..bytes.len() {
            assert_eq!(decode_event(&bytes[..end]).is_ok(), decode_record(&bytes[..end]).is_ok());
        }
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let error = decode_session(&[PACKED_SESSION + 1, 0, 0]).unwrap_err();
        assert!(error.to_string().contains("update context-graph"), "{error}");
        assert!(decode_record(&[]).is_err());
    }
}
