//! Recent calls by id, so that a call reported twice counts once, as in the audit.

use std::collections::VecDeque;

use context_graph_events::agents::is_derived;
use context_graph_events::claude_code::PostToolBatchToolCall;
use context_graph_events::{Event, Outcome};
use serde::{Deserialize, Serialize};

/// How many calls are remembered: more than a client makes at once, and duplicates arrive soon.
const MOST: usize = 64;

/// What is known about a call so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct KnownCall {
    /// Whether it was requested.
    pub(super) is_asked: bool,
    /// Whether it was denied.
    #[serde(alias = "is_refused")]
    pub(super) is_denied: bool,
    /// Its outcome, if it ran and the outcome is known.
    pub(super) outcome: Option<Outcome>,
}

/// Recent calls, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct RecentCalls(VecDeque<(u32, KnownCall)>);

impl RecentCalls {
    /// Adds what an event says about a call, and returns what was known before; nothing if the call has no id.
    pub(super) fn note(&mut self, event: &Event, refuses: bool) -> KnownCall {
        let Some(id) = event.tool_use_id().filter(|id| !id.is_empty()) else { return KnownCall::default() };
        let key = hash(id);
        // Equal calls get equal derived ids, so a request after an answer is a new call.
        let asks_again = |known: &KnownCall| {
            matches!(event, Event::PreToolUse(_)) && known.outcome.is_some() && is_derived(id)
        };
        let at = self.0.iter().rposition(|(own, _)| *own == key).filter(|at| !asks_again(&self.0[*at].1));
        let before = at.map_or_else(KnownCall::default, |at| self.0[at].1);
        let outcome = event.outcome();
        let now = KnownCall {
            is_asked: before.is_asked || matches!(event, Event::PreToolUse(_)),
            is_denied: before.is_denied || refuses || outcome == Some(Outcome::Denied),
            outcome: outcome.filter(|outcome| *outcome != Outcome::Denied).or(before.outcome),
        };
        match at {
            Some(at) => self.0[at].1 = now,
            None if now == KnownCall::default() => {}
            None => self.push(key, now),
        }
        before
    }
}

impl RecentCalls {
    /// Adds what a batch reports about a call. Returns whether the call was requested and its outcome, if
    /// nothing else has reported it yet.
    pub(super) fn note_report(&mut self, call: &PostToolBatchToolCall) -> Option<(bool, Outcome)> {
        let key = Some(&call.tool_use_id).filter(|id| !id.is_empty()).map(|id| hash(id))?;
        let at = self.0.iter().rposition(|(own, _)| *own == key);
        let before = at.map_or_else(KnownCall::default, |at| self.0[at].1);
        if before.is_denied || before.outcome.is_some() {
            return None;
        }
        let outcome = Outcome::in_batch(call.tool_response.as_ref(), before.is_asked);
        let mut now = KnownCall { is_asked: true, ..before };
        match outcome {
            Outcome::Denied => now.is_denied = true,
            ran => now.outcome = Some(ran),
        }
        match at {
            Some(at) => self.0[at].1 = now,
            None => self.push(key, now),
        }
        Some((before.is_asked, outcome))
    }

    fn push(&mut self, key: u32, known: KnownCall) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((key, known));
    }
}

/// FNV-1a. A collision among a few dozen ids is very unlikely, and costs only a wrong count.
pub(super) fn hash(id: &str) -> u32 {
    id.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_export_is_read() {
        let export = r#"[[7,{"is_asked":true,"is_refused":true,"outcome":null}],[8,{"is_asked":true,"is_refused":false,"outcome":"Failure"}]]"#;
        let denied = KnownCall { is_asked: true, is_denied: true, outcome: None };
        let failed = KnownCall { is_asked: true, is_denied: false, outcome: Some(Outcome::Failure) };
        let calls = RecentCalls([(7, denied), (8, failed)].into());
        assert_eq!(serde_json::from_str::<RecentCalls>(export).unwrap(), calls);
    }
}
