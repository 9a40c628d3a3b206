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

/// How the client words the error of a call that it stopped because another of the same batch failed.
const STOPPED: &str = "Sibling tool call errored";

impl PostToolUseFailurePayload {
    /// A failure, unless it was stopped: by the user, or by the client because another call of the same batch failed.
    pub fn outcome(&self) -> CallOutcome {
        let was_stopped = self.was_interrupted() || self.error.contains(STOPPED);
        if was_stopped { CallOutcome::Interrupted } else { CallOutcome::Failure }
    }
}

impl PostToolUsePayload {
    /// What became of the call. The client sends this event for calls that succeeded, so that is what holds where the
    /// payload has no word on it.
    pub fn outcome(&self) -> CallOutcome {
        self.stated_outcome().unwrap_or(CallOutcome::Success)
    }

    /// What the payload itself says. An `error` beside the response, and a `success` there, are the sender's own word;
    /// a response may say `success`, `error`, `is_error` or `interrupted`. Any sign of failure outweighs every sign of
    /// success: a sender that reports a failure knows more. A shell's `interrupted: false` says nothing.
    pub fn stated_outcome(&self) -> Option<CallOutcome> {
        let response = &self.tool_response;
        let own_error = self.extra.get("error");
        if own_error.is_some_and(|error| !error.is_null()) {
            return Some(CallOutcome::Failure);
        }
        if response.get("interrupted").and_then(yes_or_no) == Some(true) {
            return Some(CallOutcome::Interrupted);
        }
        let succeeded = [self.extra.get("success"), response.get("success")].into_iter().flatten();
        let erred = ["is_error", "isError"].into_iter().filter_map(|key| response.get(key));
        let words = succeeded.filter_map(yes_or_no).chain(erred.filter_map(yes_or_no).map(|bad| !bad));
        let (mut good, mut bad) = (own_error.is_some(), response.get("error").is_some_and(tells_of_an_error));
        for went_well in words {
            good |= went_well;
            bad |= !went_well;
        }
        match (bad, good) {
            (true, _) => Some(CallOutcome::Failure),
            (false, true) => Some(CallOutcome::Success),
            (false, false) => None,
        }
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

/// Whether a value says yes or no. Tools of other makers write `"false"` or `0` where they mean `false`.
fn yes_or_no(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(word) => Some(*word),
        Value::String(word) if word.eq_ignore_ascii_case("true") => Some(true),
        Value::String(word) if word.eq_ignore_ascii_case("false") => Some(false),
        Value::Number(number) if number.as_u64() == Some(1) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        _ => None,
    }
}

/// Whether the `error` of a response is one. A number may measure something.
fn tells_of_an_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Number(_) => false,
        Value::Bool(word) => *word,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
