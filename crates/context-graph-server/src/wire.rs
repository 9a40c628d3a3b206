//! What a machine and the server say to each other. Requests that carry records are `postcard`, everything else is JSON; the
//! version is in the address (`/v1/…`).
//!
//! A record is sent in the form that the member shares (whole, or without text). The *team chain* runs over these forms, so
//! the server can follow it itself. The *local link* is where the machine's own chain stood behind the same record: whoever
//! changes the local record afterwards no longer gets there.

use context_graph_storage::store::{Block, Chain};
use serde::{Deserialize, Serialize};

/// The longest push, in bytes, as it is sent.
pub const MAX_PUSH: usize = 24 << 20;
/// The most that the records of one push may take uncompressed.
pub const MAX_UNPACKED: usize = 40 << 20;
/// A client ends a push when it has so many bytes of records.
pub const FULL_PUSH: usize = 2 << 20;

/// How far a session has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How many records.
    pub records: u64,
    /// The team chain behind the last of them.
    pub link: [u8; 32],
    /// The machine's own chain behind the same record.
    pub local: [u8; 32],
}

/// What lists show of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// What it is about; empty where no text is shared.
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
    /// When its first event came.
    pub started_ms: i64,
    /// When its newest event came.
    pub updated_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// Its continuity.
    pub continuity: f32,
}

/// Records of one session, and where they lead.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Push {
    /// The session.
    pub session_id: String,
    /// Tells a session that was forgotten and began again from what it was.
    pub ordinal: u64,
    /// What is shared: `full` or `metadata`.
    pub share: String,
    /// What lists show.
    pub about: About,
    /// The number of the first record, and blocks of consecutive ones.
    pub blocks: Vec<(u64, Vec<u8>)>,
    /// Where they lead.
    pub head: Head,
    /// The machine's signature over [`Push::signed`].
    pub signature: Vec<u8>,
}

impl Push {
    /// What a machine signs: that its session stands here.
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
    /// Up to which beginning of it.
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

/// Asks to be let in as a new machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Join {
    /// The invitation.
    pub invitation: String,
    /// What the machine is called.
    pub machine: String,
    /// Its public key, in hexadecimal.
    pub public_key: String,
    /// Its signature over [`Join::signed`], in hexadecimal: whoever joins has the key.
    pub signature: String,
}

impl Join {
    /// What a machine signs.
    pub fn signed(invitation: &str) -> Vec<u8> {
        [b"context-graph join 1", invitation.as_bytes()].concat()
    }
}

/// What a machine is told that was let in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Joined {
    /// The machine's number.
    pub machine: i64,
    /// What it shows from now on to be let in.
    pub token: String,
    /// The team.
    pub team: String,
    /// The member.
    pub member: String,
}

/// Where the server's copy of a session stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The session.
    pub session_id: String,
    /// Tells a session that was forgotten and began again from what it was.
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
    /// In a word.
    pub why: String,
    /// In a sentence.
    pub message: String,
    /// How many records the server has.
    pub records: u64,
}

/// Packs records into blocks, beginning behind a link.
#[derive(Debug)]
pub struct Packer {
    blocks: Vec<(u64, Vec<u8>)>,
    open: Block,
    bytes: usize,
}

impl Packer {
    /// Goes on behind so many records.
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

    /// Whether it is time to send.
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL_PUSH
    }

    /// The blocks, how many records there are now, and the chain behind them.
    pub fn finish(mut self) -> (Vec<(u64, Vec<u8>)>, u64, Chain) {
        let (records, link) = (self.open.end() - 1, self.open.behind);
        if self.open.count > 0 {
            self.blocks.push((self.open.first, self.open.encode()));
        }
        (self.blocks, records, link)
    }
}
