//! What the store itself keeps about a session: its number, how far its log goes and with which link its chain ends,
//! how far its journal is folded, and under which index keys it can be found.

use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::{SessionEntry, keys, sealed};
use crate::error::Result;
use crate::live::Position;
use crate::session_key::SessionKey;

/// A session's bookkeeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) session_id: String,
    pub(super) ordinal: u64,
    pub(super) last_seq: u64,
    pub(super) folded_to: Option<Position>,
    pub(super) timestamp_ms: i64,
    pub(super) first_stored_ms: i64,
    pub(super) previous: Option<String>,
    pub(super) project: Option<String>,
    pub(super) duration_ms: Option<u64>,
    /// The link behind the last record; none while the log is empty or was never chained.
    pub(super) chain: Option<Chain>,
}

/// A ledger as bytes. Fields are only ever added at the end, under a new number.
#[derive(Serialize, Deserialize)]
struct Stored {
    format: u8,
    session_id: String,
    ordinal: u64,
    last_seq: u64,
    folded_to: Option<Position>,
    timestamp_ms: i64,
    first_stored_ms: i64,
    previous: Option<String>,
    project: Option<String>,
    duration_ms: Option<u64>,
}

/// The format that is written.
const FORMAT: u8 = 2;

/// What the store keeps about all sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counters {
    pub(super) sessions: u64,
    pub(super) last_ordinal: u64,
    pub(super) records: u64,
    /// Sessions up to this number may be missing without a tombstone: an older program left none.
    pub(super) unwatched: u64,
}

impl Counters {
    /// Whether a store can count on from here.
    pub(super) fn are_sane(&self) -> bool {
        [self.sessions, self.last_ordinal, self.records, self.unwatched]
            .into_iter()
            .all(|count| count < keys::TOO_MANY)
    }
}

impl Ledger {
    pub(super) fn new(session_id: &str, timestamp_ms: i64, ordinal: u64) -> Self {
        Self {
            session_id: session_id.to_owned(),
            ordinal,
            last_seq: 0,
            folded_to: None,
            timestamp_ms,
            first_stored_ms: timestamp_ms,
            previous: None,
            project: None,
            duration_ms: None,
            chain: None,
        }
    }

    /// The keys under which the session is indexed, all of which hold its id.
    pub(super) fn index_keys(&self, key: &SessionKey) -> Result<Vec<Vec<u8>>> {
        let mut found = vec![keys::time(self.timestamp_ms, key)];
        if let Some(previous) = &self.previous {
            found.push(keys::previous(&SessionKey::new(previous)?, key));
        }
        if let Some(project) = &self.project {
            found.push(keys::project(project, self.timestamp_ms, key));
        }
        Ok(found)
    }

    /// Whether a record made from the journal entry that ended at `source` is in the log already.
    pub(super) fn contains(&self, source: Option<Position>) -> bool {
        matches!((self.folded_to, source), (Some(folded), Some(source))
            if folded.generation == source.generation && source.offset <= folded.offset)
    }

    pub(super) fn entry(self) -> SessionEntry {
        SessionEntry {
            session_id: self.session_id,
            timestamp_ms: self.timestamp_ms,
            first_stored_ms: self.first_stored_ms,
            previous_session_id: self.previous,
            project: self.project,
            duration_ms: self.duration_ms,
            last_seq: self.last_seq,
            folded_to: self.folded_to,
            chain: self.chain,
        }
    }

    /// The ledger as it is stored under `key`.
    pub(super) fn encode(&self, key: &[u8]) -> Result<Vec<u8>> {
        let chain = self.chain.map(|chain| *chain.as_bytes());
        let stored = Stored {
            format: FORMAT,
            session_id: self.session_id.clone(),
            ordinal: self.ordinal,
            last_seq: self.last_seq,
            folded_to: self.folded_to,
            timestamp_ms: self.timestamp_ms,
            first_stored_ms: self.first_stored_ms,
            previous: self.previous.clone(),
            project: self.project.clone(),
            duration_ms: self.duration_ms,
        };
        encode(key, &(stored, chain))
    }

    /// The ledger stored under `key`; none when it does not check out.
    pub(super) fn decode(key: &[u8], value: &[u8]) -> Option<Self> {
        let (stored, rest) = postcard::take_from_bytes::<Stored>(sealed::unseal(key, value)?).ok()?;
        let chain: Option<[u8; 32]> = match stored.format {
            1 => None,
            FORMAT => postcard::from_bytes(rest).ok()?,
            _ => return None,
        };
        if stored.ordinal >= keys::TOO_MANY || stored.last_seq >= keys::TOO_MANY {
            return None;
        }
        Some(Self {
            session_id: stored.session_id,
            ordinal: stored.ordinal,
            last_seq: stored.last_seq,
            folded_to: stored.folded_to,
            timestamp_ms: stored.timestamp_ms,
            first_stored_ms: stored.first_stored_ms,
            previous: stored.previous,
            project: stored.project,
            duration_ms: stored.duration_ms,
            chain: chain.map(Chain::from),
        })
    }
}

/// A small record as it is stored under `key`.
pub(super) fn encode<T: Serialize>(key: &[u8], value: &T) -> Result<Vec<u8>> {
    Ok(sealed::seal(key, &postcard::to_stdvec(value)?))
}

/// A small record stored under `key`; none when it does not check out.
pub(super) fn decode<'a, T: Deserialize<'a>>(key: &[u8], value: &'a [u8]) -> Option<T> {
    postcard::from_bytes(sealed::unseal(key, value)?).ok()
}
