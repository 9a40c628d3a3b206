//! A tool call, from the request to the answer.

use context_graph_events::Outcome;
use context_graph_events::reply::Verb;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who acted: the main thread, or a subagent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Actor {
    /// The subagent's id; `None` on the main thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The kind of agent. On the main thread it is set only if the client was started as that agent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// How the outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The client reported the result.
    Result,
    /// The client reported a refusal of its own.
    Refusal,
    /// We refused it.
    Ruling,
    /// The call has no event of its own, but its batch reported it.
    Batch,
    /// The same call came again in a later run of the client.
    AskedAgain,
    /// The turn was aborted without an answer.
    BrokenOff,
    /// The turn ended normally without an answer.
    TurnOver,
    /// Nothing has followed yet.
    Open,
}

impl Evidence {
    /// All kinds of evidence.
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

    /// The evidence's name.
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
    /// The input that replaced the call's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
}

/// How strict a verdict is; the larger, the stricter.
pub fn strictness(verdict: &str) -> usize {
    Verb::ALL.iter().rev().position(|known| known.as_str() == verdict).map_or(0, |at| at + 1)
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
    /// How long our hook took, in microseconds.
    pub took_us: u32,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// Its id; empty if the sender gave none.
    pub tool_use_id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// The session's project.
    pub project: String,
    /// The tool.
    pub tool: String,
    /// The MCP server, for an MCP tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_server: Option<String>,
    /// Who made the call.
    pub agent: Actor,
    /// The prompt that the agent was working on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The permission mode: what the agent may do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The session's folder at the time of the request.
    pub cwd: String,
    /// When it was first seen.
    pub at_ms: i64,
    /// When its answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
    /// What the call was about, in one line.
    pub subject: String,
    /// The files and folders its input named.
    pub paths: Vec<String>,
    /// The input as it was asked for; `None` if the request was not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Value>,
    /// What was decided about it, oldest first.
    pub decided: Vec<EventRuling>,
    /// Whether there was a permission request for it.
    pub permission_asked: bool,
    /// The input as it was executed; `None` if, as far as we know, it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executed: Option<Value>,
    /// What became of it.
    pub outcome: Outcome,
    /// How that is known.
    pub evidence: Evidence,
    /// The result. If only the batch reported the call: what the model was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// The error, if the call failed or the client refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the tool itself took, as the client measured it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The time from our hook before the call to our hook after it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_ms: Option<u64>,
    /// How often it was deferred to another run of the client.
    pub deferrals: u32,
    /// Its records, in order. Empty if only a batch reported it.
    pub records: Vec<Part>,
    /// The record of the batch that reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_seq: Option<u64>,
}

impl Call {
    /// The number of its first record; for a call without records, that of its batch.
    pub fn first_seq(&self) -> u64 {
        self.records.first().map(|part| part.seq).or(self.batch_seq).unwrap_or_default()
    }

    /// The strictest decision made before it could run.
    pub fn ruling(&self) -> Option<&EventRuling> {
        let before = self.decided.iter().filter(|decided| !decided.event.starts_with("Post"));
        // If several are equally strict, the first one: the client acted on that.
        before.rev().max_by_key(|decided| strictness(&decided.verdict))
    }

    /// The strictest of all decisions. A decision about the result counts only if it is stricter.
    pub fn strictest(&self) -> Option<&EventRuling> {
        let after = self.decided.iter().filter(|decided| decided.event.starts_with("Post"));
        self.ruling().into_iter().chain(after).rev().max_by_key(|decided| strictness(&decided.verdict))
    }
}
