//! A tool call, from the asking to the answer.

use context_graph_events::CallOutcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who acted: the main thread, or a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Agent {
    /// The subagent's id; none on the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The kind of agent. The main thread has one only where the client was started as that agent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl Agent {
    /// Whether it is the main thread.
    pub fn is_main(&self) -> bool {
        self.id.is_none()
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and gave a result.
    Success,
    /// It ran, or was to run, and gave an error.
    Failure,
    /// It was not allowed to run.
    Denied,
    /// It was stopped before it was done.
    Interrupted,
    /// It was put off to another run of the client, and has not been answered since.
    Deferred,
    /// No answer is on record.
    Unanswered,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::Failure, Self::Denied, Self::Interrupted, Self::Deferred, Self::Unanswered];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Denied => "denied",
            Self::Interrupted => "interrupted",
            Self::Deferred => "deferred",
            Self::Unanswered => "unanswered",
        }
    }

    /// The outcome of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// An answer's own word is the call's outcome.
impl From<CallOutcome> for Outcome {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Success => Self::Success,
            CallOutcome::Failure => Self::Failure,
            CallOutcome::Interrupted => Self::Interrupted,
        }
    }
}

/// How the outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The client told of the result.
    Result,
    /// The client told of a refusal of its own.
    Refusal,
    /// We refused it, or put it off.
    Ruling,
    /// No event of its own says so, but what the batch gave the model does.
    Batch,
    /// The same call came again in a later run of the client.
    AskedAgain,
    /// The turn was broken off without an answer.
    BrokenOff,
    /// The turn went on to its end without an answer.
    TurnOver,
    /// Nothing followed yet.
    Open,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Result,
        Self::Refusal,
        Self::Ruling,
        Self::Batch,
        Self::AskedAgain,
        Self::BrokenOff,
        Self::TurnOver,
        Self::Open,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Refusal => "refusal",
            Self::Ruling => "ruling",
            Self::Batch => "batch",
            Self::AskedAgain => "asked_again",
            Self::BrokenOff => "broken_off",
            Self::TurnOver => "turn_over",
            Self::Open => "open",
        }
    }

    /// The evidence of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|evidence| evidence.as_str() == name)
    }
}

/// What was decided about a call or another event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventRuling {
    /// The event on which it was decided.
    pub event: String,
    /// The verdict: `deny`, `ask`, `modify`, …
    pub verdict: String,
    /// The rules behind it.
    pub rules: Vec<String>,
    /// Why.
    pub reason: String,
    /// The input the call was given instead of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
}

/// How strict a verdict is; the larger, the stricter.
pub fn strictness(verdict: &str) -> usize {
    let order = ["allow", "modify", "ask", "defer", "block", "deny", "halt"];
    order.iter().position(|known| *known == verdict).map_or(0, |at| at + 1)
}

/// One record of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its number.
    pub seq: u64,
    /// The event's name.
    pub event: &'static str,
    /// When it came.
    pub at_ms: i64,
    /// How long our hook took over it, in microseconds.
    pub took_us: u32,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Its id. It may be empty, where the sender gave none.
    pub tool_use_id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// The project the session belongs to.
    pub project: String,
    /// The tool.
    pub tool: String,
    /// The MCP server, for an MCP tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
    /// Who called.
    pub agent: Agent,
    /// The prompt being worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// How much the agent might do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The session's folder when it was asked for.
    pub cwd: String,
    /// When it was first seen.
    pub at_ms: i64,
    /// When its answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
    /// What it was about, in a line.
    pub subject: String,
    /// The files and folders its input named.
    pub paths: Vec<String>,
    /// The input as it was asked for; `None` if the request was not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Value>,
    /// What was decided about it, in the order it was.
    pub decided: Vec<EventRuling>,
    /// Whether the user was to be asked for permission.
    pub permission_asked: bool,
    /// The input as it was executed; `None` if it was not executed, as far as we know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executed: Option<Value>,
    /// What became of it.
    pub outcome: Outcome,
    /// How that is known.
    pub evidence: Evidence,
    /// What it gave back; of a call that only its batch tells of, what the model was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// The error, where it failed or was refused by the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the tool itself took, as the client measured it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How long it was from our hook before it to our hook after it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_ms: Option<u64>,
    /// How often it was put off to another run of the client.
    pub deferrals: u32,
    /// Its records, in their order. Empty if only a batch tells of it.
    pub records: Vec<Part>,
    /// The record of the batch that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_seq: Option<u64>,
}

impl Call {
    /// The number of its first record; of a call without one, that of its batch.
    pub fn first_seq(&self) -> u64 {
        self.records.first().map(|part| part.seq).or(self.batch_seq).unwrap_or_default()
    }

    /// The strictest of what was decided before it could run.
    pub fn ruling(&self) -> Option<&EventRuling> {
        let before = self.decided.iter().filter(|decided| !decided.event.starts_with("Post"));
        // The first of equals: it is what the client acted on.
        before.rev().max_by_key(|decided| strictness(&decided.verdict))
    }

    /// The strictest of all that was decided: what was decided about its result counts where it is stricter.
    pub fn strictest(&self) -> Option<&EventRuling> {
        let after = self.decided.iter().filter(|decided| decided.event.starts_with("Post"));
        self.ruling().into_iter().chain(after).rev().max_by_key(|decided| strictness(&decided.verdict))
    }
}
