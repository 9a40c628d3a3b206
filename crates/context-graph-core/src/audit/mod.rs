//! The history of a session, built from its records: each tool call once, from request to answer, and every
//! other recorded event.
//!
//! [`correlate`] does all of it: records in, [`Entry`]s out. Each record belongs to exactly one entry; a batch can
//! also be the only source of calls. A call without an answer, or an answer without a request, is valid and not an
//! error. Nothing is added that the records do not say.
//!
//! Here the *answer* to a call is the event that ends it: a result, a failure or the client's refusal.

mod call;
mod correlate;
mod draft;
mod duration;
mod likeness;
mod places;
mod subject;
mod text;
mod turns;

use context_graph_events::EventName;
use serde::Serialize;

use crate::session::DREAM_RECORDED;

pub use call::{Actor, Call, EventRuling, Evidence, Part, strictness};
pub use context_graph_events::Outcome;
pub use correlate::{CALL_EVENTS, SessionRef, correlate, correlate_events};
pub use duration::duration;
pub use subject::in_words;
pub use text::{Needle, visit_texts};
pub use turns::TurnEnd;

/// The name of an entry whose record cannot be decoded.
pub const UNREADABLE: &str = "unreadable";

/// Events that only repeat what other entries say: a batch of calls, and a dream, which `consciousness` shows.
pub const REPETITIONS: [&str; 2] = [EventName::PostToolBatch.as_str(), DREAM_RECORDED];

/// One entry of the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// A tool call.
    Call(Box<Call>),
    /// Anything else: a prompt, a start, a stop, a compaction, …
    Event(Box<Happening>),
}

/// An event that is not a tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Happening {
    /// The number of its record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// The event's name, or [`UNREADABLE`].
    pub event: String,
    /// Who acted.
    pub agent: Actor,
    /// The prompt that the agent was working on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The permission mode: what the agent may do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The session's folder at the time.
    pub cwd: String,
    /// What the event was about, in one line.
    pub subject: String,
    /// The files and folders it named.
    pub paths: Vec<String>,
    /// What was decided about it, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<EventRuling>,
    /// How long our hook took, in microseconds.
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

    /// The number of its first record. A call that only a batch reports has the batch's number.
    pub fn first_seq(&self) -> u64 {
        match self {
            Self::Call(call) => call.first_seq(),
            Self::Event(happening) => happening.seq,
        }
    }

    /// The numbers of the records that belong to this entry only.
    pub fn seqs(&self) -> Vec<u64> {
        match self {
            Self::Call(call) => call.records.iter().map(|part| part.seq).collect(),
            Self::Event(happening) => vec![happening.seq],
        }
    }

    /// Who acted.
    pub fn agent(&self) -> &Actor {
        match self {
            Self::Call(call) => &call.agent,
            Self::Event(happening) => &happening.agent,
        }
    }
}
