//! What stays of a session that was removed: that it was there, how long its log was, how its chain ended, when it went
//! and why. Nothing of what was in it. Tombstones are records of a log of the store's own, with a chain of its own, so
//! that pruning is not mistaken for tampering, and tampering not for pruning.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::engine::{Reader, Table, Writer};
use super::ledger::Ledger;
use super::{LogRecord, keys, log};
use crate::error::Result;

/// The number of the store's own log; sessions are numbered from one.
pub(super) const OWN_LOG: u64 = 0;

/// Why a session was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// The user asked for it.
    Forgotten,
    /// It was older than what is kept.
    Age,
    /// The store was larger than it may be.
    Size,
}

impl Why {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forgotten => "forgotten",
            Self::Age => "age",
            Self::Size => "size",
        }
    }
}

/// What stays of a removed session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The session's number in the store.
    pub ordinal: u64,
    /// Fingerprint of its id: whoever knows the id can recognise it.
    pub fingerprint: [u8; 16],
    /// How many records it had.
    pub records: u64,
    /// The link at the end of its chain.
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

/// Leaves a tombstone for the session of `ledger`.
pub(super) fn leave(writer: &mut dyn Writer, ledger: &Ledger, at_ms: i64, why: Why) -> Result<()> {
    let tombstone = Tombstone {
        ordinal: ledger.ordinal,
        fingerprint: Tombstone::fingerprint(&ledger.session_id),
        records: ledger.last_seq,
        chain: ledger.chain.map(|chain| *chain.as_bytes()),
        at_ms,
        why,
    };
    let record = LogRecord { bytes: postcard::to_stdvec(&tombstone)?, ..LogRecord::default() };
    let mut own = own_ledger(writer)?;
    log::append(writer, &mut own, [&record])?;
    writer.put(Table::Meta, keys::OWN, &own.encode(keys::OWN)?)
}

/// The ledger of the store's own log. One that does not check out is made anew from the log.
pub(super) fn own_ledger<R: Reader + ?Sized>(reader: &R) -> Result<Ledger> {
    let stored = reader.get(Table::Meta, keys::OWN)?;
    if let Some(ledger) = stored.and_then(|value| Ledger::decode(keys::OWN, value)) {
        return Ok(ledger);
    }
    let mut ledger = Ledger::new("", 0, OWN_LOG);
    ledger.last_seq = log::last_seq(reader, OWN_LOG)?.unwrap_or_else(|first| first);
    ledger.chain = Some(log::last_chain(reader, OWN_LOG)?.unwrap_or_else(|| Chain::begin(OWN_LOG, "")));
    Ok(ledger)
}

/// All tombstones, oldest first. One that cannot be read is left out, and found by whoever verifies the chain.
pub(super) fn all<R: Reader + ?Sized>(reader: &R) -> Result<Vec<Tombstone>> {
    let mut found = Vec::new();
    log::visit(reader, OWN_LOG, 1, &mut |entry| {
        found.extend(entry.content.and_then(|content| postcard::from_bytes(content.bytes).ok()));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
