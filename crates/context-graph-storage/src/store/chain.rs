//! The hash chain of a session's log: each link covers its record and, through the previous link, all earlier
//! records. It uses no key, so anyone with the records can check it.

use std::fmt;

/// A link in a session's chain of records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Chain([u8; 32]);

impl Chain {
    /// The start of a log's chain. The number separates the logs of a session that was forgotten and started
    /// again.
    pub fn begin(ordinal: u64, session_id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"context-graph log 1");
        hasher.update(&ordinal.to_le_bytes());
        hasher.update(session_id.as_bytes());
        Self(hasher.finalize().into())
    }

    /// The link after one more record.
    #[must_use]
    pub fn next(&self, seq: u64, tool_use_id: Option<&str>, bytes: &[u8]) -> Self {
        let id = tool_use_id.unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&seq.to_le_bytes());
        // The id is preceded by its length, so that no two records give the same bytes.
        hasher.update(&[u8::from(tool_use_id.is_some())]);
        hasher.update(&(id.len() as u64).to_le_bytes());
        hasher.update(id.as_bytes());
        hasher.update(bytes);
        Self(hasher.finalize().into())
    }

    /// The link as bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first bytes, which are stored with each record so that a break can be located.
    pub(super) fn mark(&self) -> [u8; 8] {
        std::array::from_fn(|at| self.0[at])
    }
}

impl From<[u8; 32]> for Chain {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Chain({self})")
    }
}
