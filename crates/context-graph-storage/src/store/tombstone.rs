//! What remains of a removed session: that it existed, how long its log was, how its chain ended, when it was
//! removed and why. Nothing of its content. Tombstones have a chain of their own, so that pruning is not
//! mistaken for tampering, nor tampering for pruning.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::ledger::Ledger;
use super::{Store, write};
use crate::error::Result;

/// Why a session was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// The user asked for it.
    Forgotten,
    /// It was older than the age limit.
    Age,
    /// The store was larger than the size limit.
    Size,
}

impl Why {
    /// The reason as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forgotten => "forgotten",
            Self::Age => "age",
            Self::Size => "size",
        }
    }
}

/// What remains of a removed session in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The session's number in the store.
    pub ordinal: u64,
    /// Fingerprint of its id: anyone who knows the id can recognise it.
    pub fingerprint: [u8; 16],
    /// How many records it had.
    pub records: u64,
    /// The last link of its chain.
    pub chain: Option<[u8; 32]>,
    /// When it was removed.
    pub at_ms: i64,
    /// Why.
    pub why: Why,
}

impl Tombstone {
    /// The fingerprint of a session's id.
    pub fn fingerprint(session_id: &str) -> [u8; 16] {
        let hash = blake3::derive_key("context-graph 1 session in a tombstone", session_id.as_bytes());
        std::array::from_fn(|at| hash[at])
    }
}

/// Adds a tombstone for the session of `ledger`.
pub(super) fn leave(connection: &Connection, ledger: &Ledger, at_ms: i64, why: Why) -> rusqlite::Result<()> {
    let tombstone = Tombstone {
        ordinal: ledger.number.cast_unsigned(),
        fingerprint: Tombstone::fingerprint(&ledger.entry.session_id),
        records: ledger.entry.last_seq,
        chain: ledger.entry.chain.map(|chain| *chain.as_bytes()),
        at_ms,
        why,
    };
    let content = postcard::to_stdvec(&tombstone)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    // The count is stored separately, so that removing the last rows is detected.
    let seq = write::count_up(connection, "last_tombstone")?;
    let before = connection
        .query_row("SELECT link FROM tombstones ORDER BY seq DESC LIMIT 1", [], |row| {
            row.get::<_, [u8; 32]>(0)
        })
        .optional()?;
    let link = before.map_or_else(begin, Chain::from).next(seq.cast_unsigned(), None, &content);
    connection.execute(
        "INSERT INTO tombstones (seq, session, content, link) VALUES (?, ?, ?, ?)",
        params![seq, ledger.number, content, &link.as_bytes()[..]],
    )?;
    Ok(())
}

/// The start of the chain of tombstones.
pub(super) fn begin() -> Chain {
    Chain::begin(0, "")
}

impl Store {
    /// The tombstones, in the order of removal. One that cannot be decoded is left out; verifying the chain
    /// finds it.
    pub fn tombstones(&self) -> Result<Vec<Tombstone>> {
        self.run(|store| {
            let mut statement = store.connection.prepare("SELECT content FROM tombstones ORDER BY seq")?;
            let rows = statement.query_map([], |row| {
                Ok(postcard::from_bytes(row.get_ref(0)?.as_blob().unwrap_or_default()).ok())
            })?;
            rows.filter_map(rusqlite::Result::transpose).collect()
        })
    }
}
