//! The keys of the tables.
//!
//! ```text
//! meta       meta:counters, meta:format, meta:own (ledger of the store's own log)
//! sessions   session:{key}                      → snapshot
//!            session:{key}:fold                 → ledger
//!            session:{key}:state                → further state
//!            idx:time:{ms, 20 digits}:{key}     → session id
//!            idx:prev:{key of previous}:{key}   → session id
//!            idx:project:{hash}:{ms}:{key}      → session id
//! log        ordinal (8 bytes) sequence (8)     → block of records from that one on; under sequence 0, the session id
//! calls      hash of the tool call's id (8) ordinal (8) sequence (8) → nothing
//! ```
//! `{key}` is a [`SessionKey`], which contains no `:`. Numbers are big endian, so keys sort like numbers. The
//! ordinal is a session's number in the store: short where the id would be repeated with every record. What one
//! transaction changes stands side by side where possible, because each page that it touches is written anew.

use std::ops::Bound;

use super::engine::Bounds;
use super::short_hash::short_hash;
use crate::session_key::SessionKey;

pub(super) const COUNTERS: &[u8] = b"meta:counters";
pub(super) const FORMAT: &[u8] = b"meta:format";
pub(super) const OWN: &[u8] = b"meta:own";
pub(super) const TIMES: &str = "idx:time:";
pub(super) const INDEXES: &str = "idx:";

pub(super) fn snapshot(key: &SessionKey) -> Vec<u8> {
    format!("session:{key}").into_bytes()
}

pub(super) fn state(key: &SessionKey) -> Vec<u8> {
    format!("session:{key}:state").into_bytes()
}

pub(super) fn ledger(key: &SessionKey) -> Vec<u8> {
    format!("session:{key}:fold").into_bytes()
}

pub(super) fn time(timestamp_ms: i64, key: &SessionKey) -> Vec<u8> {
    format!("{TIMES}{:020}:{key}", sortable(timestamp_ms)).into_bytes()
}

pub(super) fn previous(previous: &SessionKey, key: &SessionKey) -> Vec<u8> {
    format!("idx:prev:{previous}:{key}").into_bytes()
}

pub(super) fn successors(previous: &SessionKey) -> Vec<u8> {
    format!("idx:prev:{previous}:").into_bytes()
}

pub(super) fn project(project: &str, timestamp_ms: i64, key: &SessionKey) -> Vec<u8> {
    format!("{}{:020}:{key}", projects(project), sortable(timestamp_ms)).into_bytes()
}

/// What the keys of all sessions of a project start with.
pub(super) fn projects(project: &str) -> String {
    format!("idx:project:{}:", &short_hash(project.as_bytes()).to_hex()[..32])
}

pub(super) fn record(ordinal: u64, seq: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&ordinal.to_be_bytes());
    key[8..].copy_from_slice(&seq.to_be_bytes());
    key
}

/// Says whose log it is.
pub(super) fn owner(ordinal: u64) -> [u8; 16] {
    record(ordinal, 0)
}

pub(super) fn call(tool_use_id: &str, ordinal: u64, seq: u64) -> [u8; 24] {
    let mut key = [0; 24];
    key[..8].copy_from_slice(&call_hash(tool_use_id));
    key[8..].copy_from_slice(&record(ordinal, seq));
    key
}

/// What the keys of all records of a tool call start with. Whoever looks a call up compares the whole id.
pub(super) fn call_hash(tool_use_id: &str) -> [u8; 8] {
    let mut hash = [0; 8];
    hash.copy_from_slice(&short_hash(tool_use_id.as_bytes()).as_bytes()[..8]);
    hash
}

/// No store counts as far as this. A larger number is damage, and one that could not be counted on from.
pub(super) const TOO_MANY: u64 = 1 << 56;

/// Ordinal and sequence at the end of a key of the log or of the calls.
pub(super) fn split_record(key: &[u8]) -> Option<(u64, u64)> {
    let (rest, seq) = key.split_last_chunk::<8>()?;
    let (_, ordinal) = rest.split_last_chunk::<8>()?;
    let (ordinal, seq) = (u64::from_be_bytes(*ordinal), u64::from_be_bytes(*seq));
    (ordinal < TOO_MANY && seq < TOO_MANY).then_some((ordinal, seq))
}

/// Bounds of the times within `since..=until`, behind `prefix`.
pub(super) fn time_range(prefix: &str, since: Option<i64>, until: Option<i64>) -> (Vec<u8>, Vec<u8>) {
    let start = format!("{prefix}{:020}:", sortable(since.unwrap_or(0)));
    // ';' follows ':', so it closes the millisecond with all its sessions.
    let end = format!("{prefix}{:020};", sortable(until.unwrap_or(i64::MAX)));
    (start.into_bytes(), end.into_bytes())
}

/// Bounds of everything that starts with `prefix`. The prefixes used here never end in 0xFF throughout, and where
/// they do the walk goes to the end of the table.
pub(super) fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

/// Bounds from `start` to before `end`.
pub(super) fn between<'a>(start: &'a [u8], end: Option<&'a [u8]>) -> Bounds<'a> {
    (Bound::Included(start), end.map_or(Bound::Unbounded, Bound::Excluded))
}

/// No clock of ours runs before 1970; what claims to is the oldest.
fn sortable(timestamp_ms: i64) -> i64 {
    timestamp_ms.max(0)
}
