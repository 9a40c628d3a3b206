//! What happened in a session, told from its records: each tool call once, from the asking to the answer, and beside
//! the calls everything else that was recorded.
//!
//! [`correlate`] is the whole of it: records in, [`Entry`]s out. Each record belongs to exactly one entry. A call that
//! was never answered, or a result without a request, is a state of its call and no error; what the records
//! do not say is not made up.

mod call;
mod correlate;
mod draft;
mod likeness;
mod places;
mod subject;
mod text;
mod turns;

use serde::Serialize;

pub use call::{Agent, Call, EventRuling, Evidence, Outcome, Part, strictness};
pub use correlate::{SessionRef, correlate};
pub use places::{EDITORS, edits_files};
pub use text::{Needle, visit_texts};

/// The name of an entry whose record cannot be read back.
pub const UNREADABLE: &str = "unreadable";

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A tool call.
    Call(Box<Call>),
    /// Anything else: a prompt, a start, a stop, a compaction, …
    Event(Box<Happening>),
}

/// Something that happened and is no tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happening {
    /// The number of its record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// The event's name, or [`UNREADABLE`].
    pub event: String,
    /// Who acted.
    pub agent: Agent,
    /// The prompt being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// How much the agent might do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The session's folder at the time.
    pub cwd: String,
    /// What it was about, in a line.
    pub subject: String,
    /// The files and folders it named.
    pub paths: Vec<String>,
    /// What was decided about it, where something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<EventRuling>,
    /// How long our hook took over it, in microseconds.
    pub took_us: u32,
}

impl Entry {
    /// When it began.
    pub fn at_ms(&self) -> i64 {
        match self {
            Self::Call(call) => call.at_ms,
            Self::Event(happening) => happening.at_ms,
        }
    }

    /// The number of its first record. A call that only a batch tells of counts as part of that batch.
    pub fn first_seq(&self) -> u64 {
        match self {
            Self::Call(call) => call.first_seq(),
            Self::Event(happening) => happening.seq,
        }
    }

    /// The numbers of the records that belong to it and to nothing else.
    pub fn seqs(&self) -> Vec<u64> {
        match self {
            Self::Call(call) => call.records.iter().map(|part| part.seq).collect(),
            Self::Event(happening) => vec![happening.seq],
        }
    }

    /// Who acted.
    pub fn agent(&self) -> &Agent {
        match self {
            Self::Call(call) => &call.agent,
            Self::Event(happening) => &happening.agent,
        }
    }
}
