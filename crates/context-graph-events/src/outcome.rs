//! What became of a tool call, decided here and nowhere else: counters, continuity, loops, the digest and the audit all ask
//! this.

use serde_json::Value;

use crate::claude_code::{Event, PostToolUseFailurePayload, PostToolUsePayload};

/// What became of a call that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// It ran and gave a result.
    Success,
    /// It gave an error.
    Failure,
    /// It was stopped before it was done, which says nothing about the call itself.
    Interrupted,
}

impl Event {
    /// What became of the call whose answer this event brings; `None` for any other event.
    pub fn outcome(&self) -> Option<CallOutcome> {
        match self {
            Self::PostToolUse(done) => Some(done.outcome()),
            Self::PostToolUseFailure(failed) => Some(failed.outcome()),
            _ => None,
        }
    }

    /// Why the call failed, in the sender's words; `None` where it did not fail or no reason is given.
    pub fn call_error(&self) -> Option<&str> {
        match self {
            Self::PostToolUse(done) if done.outcome() != CallOutcome::Success => done.error_text(),
            Self::PostToolUseFailure(failed) => Some(&failed.error),
            _ => None,
        }
    }
}

impl PostToolUseFailurePayload {
    /// A failure, unless the user stopped it.
    pub fn outcome(&self) -> CallOutcome {
        if self.was_interrupted() { CallOutcome::Interrupted } else { CallOutcome::Failure }
    }
}

impl PostToolUsePayload {
    /// What became of the call. The client sends this event for calls that succeeded, so that is what holds where the
    /// payload has no word on it.
    pub fn outcome(&self) -> CallOutcome {
        self.stated_outcome().unwrap_or(CallOutcome::Success)
    }

    /// What the payload itself says. An `error` beside the response, and a `success` there, are the sender's own word;
    /// a response may say `success`, `error`, `is_error` or `interrupted`. A shell's `interrupted: false` says nothing.
    pub fn stated_outcome(&self) -> Option<CallOutcome> {
        let said = |success: bool| if success { CallOutcome::Success } else { CallOutcome::Failure };
        let response = &self.tool_response;
        if self.extra.get("error").is_some_and(|error| !error.is_null()) {
            return Some(CallOutcome::Failure);
        }
        if response.get("interrupted") == Some(&Value::Bool(true)) {
            return Some(CallOutcome::Interrupted);
        }
        if let Some(success) = [self.extra.get("success"), response.get("success")]
            .into_iter()
            .flatten()
            .find_map(Value::as_bool)
        {
            return Some(said(success));
        }
        if self.get_error().is_some() {
            return Some(CallOutcome::Failure);
        }
        ["is_error", "isError"].iter().find_map(|key| response.get(key)?.as_bool()).map(|bad| said(!bad))
    }

    /// The reason that the sender or the tool gives for a failure.
    fn error_text(&self) -> Option<&str> {
        self.extra
            .get("error")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .or_else(|| self.get_error())
    }
}
