//! The messages between a machine and the server. Requests with records are `postcard`, everything else is
//! JSON. The version is in the address (`/v1/…`).
//!
//! A record is sent in the form that the member shares (whole, or without texts). The *team chain* is
//! computed over these forms, so the server can verify it. The *local link* is the machine's own chain after
//! the same record: if somebody changes the local records later, they no longer lead to it.

use context_graph_storage::store::{Block, Chain};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A client ends a push after this many bytes of records.
pub const FULL_PUSH: usize = 2 << 20;
/// The largest push, in bytes, as sent. A record is some kilobytes at most, so a client's push is little more than full.
pub const MAX_PUSH: usize = 4 << 20;
/// The largest size of a push's records, uncompressed.
pub const MAX_UNPACKED: usize = 6 << 20;
/// The largest size of one block, uncompressed.
pub const MAX_BLOCK: usize = 1 << 20;
/// The maximum number of blocks in a push. An empty block takes two bytes in a push, but many more in memory.
pub const MAX_BLOCKS: usize = 1024;

/// The end of a session's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How many records.
    pub records: u64,
    /// The team chain after the last record.
    pub link: [u8; 32],
    /// The machine's own chain after the same record.
    pub local: [u8; 32],
}

/// What lists show about a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Its title; empty if no texts are shared.
    pub title: String,
    /// The project's root, or a fingerprint of it.
    pub project: String,
    /// The model.
    pub model: String,
    /// Its lifecycle state.
    pub lifecycle: String,
    /// How it ended.
    pub ended: Option<String>,
    /// The session that it continues.
    pub previous: Option<String>,
    /// The time of its first event.
    pub started_ms: i64,
    /// The time of its newest event.
    pub updated_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// Its continuity.
    pub continuity: f32,
}

/// Records of one session, and the head that they lead to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Push {
    /// The session.
    pub session_id: String,
    /// Distinguishes a session that was forgotten and started again from the earlier one.
    pub ordinal: u64,
    /// What is shared: `full` or `metadata`.
    pub share: String,
    /// What lists show.
    pub about: About,
    /// Blocks of consecutive records, each with the number of its first one.
    #[serde(deserialize_with = "few_blocks")]
    pub blocks: Vec<(u64, Vec<u8>)>,
    /// The head after these records.
    pub head: Head,
    /// The machine's signature over [`Push::signed`].
    pub signature: Vec<u8>,
}

/// Reads blocks, up to the number that a push may have.
fn few_blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(u64, Vec<u8>)>, D::Error> {
    struct Few;
    impl<'de> Visitor<'de> for Few {
        type Value = Vec<(u64, Vec<u8>)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "at most {MAX_BLOCKS} blocks")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Self::Value, A::Error> {
            let mut blocks = Vec::new();
            while let Some(block) = all.next_element()? {
                if blocks.len() == MAX_BLOCKS {
                    return Err(A::Error::invalid_length(MAX_BLOCKS + 1, &self));
                }
                blocks.push(block);
            }
            Ok(blocks)
        }
    }
    from.deserialize_seq(Few)
}

impl Push {
    /// The uncompressed size of its blocks, according to their headers.
    pub(crate) fn announced(&self) -> usize {
        self.blocks.iter().filter_map(|(_, bytes)| Block::announced(bytes)).sum()
    }

    /// What a machine signs: that its session ends with this head.
    pub fn signed(machine: i64, session_id: &str, ordinal: u64, head: &Head) -> Vec<u8> {
        let mut text = b"context-graph push 1".to_vec();
        text.extend(machine.to_le_bytes());
        text.extend(ordinal.to_le_bytes());
        text.extend(head.records.to_le_bytes());
        text.extend(head.link);
        text.extend(head.local);
        text.extend(session_id.as_bytes());
        text
    }
}

/// Asks to forget a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Forget {
    /// The session.
    pub session_id: String,
    /// Up to which ordinal.
    pub ordinal: u64,
    /// The machine's signature over [`Forget::signed`].
    pub signature: Vec<u8>,
}

impl Forget {
    /// What a machine signs.
    pub fn signed(machine: i64, session_id: &str, ordinal: u64) -> Vec<u8> {
        let mut text = b"context-graph forget 1".to_vec();
        text.extend(machine.to_le_bytes());
        text.extend(ordinal.to_le_bytes());
        text.extend(session_id.as_bytes());
        text
    }
}

/// Asks to join as a new machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Join {
    /// The invitation.
    pub invitation: String,
    /// The machine's name.
    pub machine: String,
    /// Its public key, in hexadecimal.
    pub public_key: String,
    /// Its signature over [`Join::signed`], in hexadecimal. It proves that the machine has the key.
    pub signature: String,
}

impl Join {
    /// What a machine signs.
    pub fn signed(invitation: &str) -> Vec<u8> {
        [b"context-graph join 1", invitation.as_bytes()].concat()
    }
}

/// The answer to a machine that has joined.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Joined {
    /// The machine's number.
    pub machine: i64,
    /// The token for its later requests.
    pub token: String,
    /// The team.
    pub team: String,
    /// The member.
    pub member: String,
    /// The public key of the team's policies, in hexadecimal.
    #[serde(default)]
    pub policy_key: Option<String>,
}

/// How far the server's copy of a session goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyHead {
    /// The session.
    pub session_id: String,
    /// Distinguishes a session that was forgotten and started again from the earlier one.
    pub ordinal: u64,
    /// How many records.
    pub records: u64,
    /// The team chain, in hexadecimal.
    pub link: String,
    /// The machine's own chain, in hexadecimal.
    pub local: String,
}

/// Why a push was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, in one word.
    pub why: String,
    /// The reason, in a sentence.
    pub message: String,
    /// How many records the server has.
    pub records: u64,
}

/// Packs records into blocks.
#[derive(Debug)]
pub struct Packer {
    blocks: Vec<(u64, Vec<u8>)>,
    open: Block,
    bytes: usize,
}

impl Packer {
    /// Continues after this many records, with this link.
    pub fn new(records: u64, link: Chain) -> Self {
        Self { blocks: Vec::new(), open: Block::new(records + 1, link), bytes: 0 }
    }

    /// Adds a record.
    pub fn push(&mut self, record: &context_graph_storage::LogRecord) {
        self.bytes += record.bytes.len();
        self.open.push(record);
        if self.open.is_full() {
            let next = Block::new(self.open.end(), self.open.behind);
            let full = std::mem::replace(&mut self.open, next);
            self.blocks.push((full.first, full.encode()));
        }
    }

    /// Whether it should be sent now.
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL_PUSH
    }

    /// The blocks, the number of records now, and the chain after them.
    pub fn finish(mut self) -> (Vec<(u64, Vec<u8>)>, u64, Chain) {
        let (records, link) = (self.open.end() - 1, self.open.behind);
        if self.open.count > 0 {
            self.blocks.push((self.open.first, self.open.encode()));
        }
        (self.blocks, records, link)
    }
}
