//! The outcome of a tool call, as one event reports it. Counters, continuity, loops, the digest and the audit all use
//! this; the audit adds what only several records together can show (`core/src/audit/draft.rs`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::claude_code::{Event, PostToolUseFailurePayload, PostToolUsePayload};
use crate::content::text_of;

/// What became of a call. States of sessions store it by the position of its name here. Older exports of sessions have
/// the first three with a capital letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and gave a result.
    #[serde(alias = "Success")]
    Success,
    /// It ran, or was to run, and gave an error.
    #[serde(alias = "Failure")]
    Failure,
    /// It was stopped before it finished, which says nothing about the call itself.
    #[serde(alias = "Interrupted")]
    Interrupted,
    /// It was not allowed to run.
    Denied,
    /// It was deferred to another run of the client, and not answered since.
    Deferred,
    /// No answer was recorded.
    Unanswered,
}

impl Outcome {
    /// All outcomes, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::Failure, Self::Denied, Self::Interrupted, Self::Deferred, Self::Unanswered];

    /// The outcome's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Interrupted => "interrupted",
            Self::Denied => "denied",
            Self::Deferred => "deferred",
            Self::Unanswered => "unanswered",
        }
    }

    /// The outcome of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }

    /// The outcome of a call that only a batch reports. A tool that ran has an event of its own. So a call that was
    /// requested and has no such event was not allowed to run, whatever reason the model is given.
    pub fn in_batch(response: Option<&Value>, was_asked: bool) -> Self {
        if response.is_some_and(is_client_error) {
            Self::Failure
        } else if was_asked {
            Self::Denied
        } else {
            Self::Success
        }
    }
}

impl Event {
    /// The outcome of the call that this event answers; `None` for any other event.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::PostToolUse(done) => Some(done.outcome()),
            Self::PostToolUseFailure(failed) => Some(failed.outcome()),
            Self::PermissionDenied(_) => Some(Outcome::Denied),
            _ => None,
        }
    }

    /// The sender's reason why the call failed; `None` if it did not fail or no reason is given.
    pub fn call_error(&self) -> Option<&str> {
        match self {
            Self::PostToolUse(done) if done.outcome() != Outcome::Success => done.error_text(),
            Self::PostToolUseFailure(failed) => Some(&failed.error),
            _ => None,
        }
    }
}

/// Whether a result is an error of the client itself, for example for an unknown tool or an invalid input. The
/// client marks these.
pub fn is_client_error(result: &Value) -> bool {
    text_of(result).trim_start().starts_with("<tool_use_error>")
}

/// The client's error text for a call that it stopped because another call of the same batch failed.
const STOPPED: &str = "Sibling tool call errored";

impl PostToolUseFailurePayload {
    /// A failure, unless the call was stopped: by the user, or by the client because another call of the batch
    /// failed. It is never "denied": the client sends this event only for calls that ran, and a tool could write any
    /// text as its error.
    pub fn outcome(&self) -> Outcome {
        let was_stopped = self.was_interrupted() || self.error.contains(STOPPED);
        if was_stopped { Outcome::Interrupted } else { Outcome::Failure }
    }
}

impl PostToolUsePayload {
    /// The outcome of the call. The client sends this event for calls that succeeded, so success is the default
    /// if the payload does not say.
    pub fn outcome(&self) -> Outcome {
        self.stated_outcome().unwrap_or(Outcome::Success)
    }

    /// The outcome that the payload itself states. An `error` or a `success` next to the response comes from
    /// the sender; the response itself may have `success`, `error`, `is_error` or `interrupted`. Any sign of
    /// failure outweighs all signs of success: a sender that reports a failure knows more. A shell's
    /// `interrupted: false` says nothing.
    pub fn stated_outcome(&self) -> Option<Outcome> {
        let response = &self.tool_response;
        let own_error = self.extra.get("error");
        if own_error.is_some_and(|error| !error.is_null()) {
            return Some(Outcome::Failure);
        }
        if response.get("interrupted").and_then(yes_or_no) == Some(true) {
            return Some(Outcome::Interrupted);
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
            (true, _) => Some(Outcome::Failure),
            (false, true) => Some(Outcome::Success),
            (false, false) => None,
        }
    }

    /// The sender's or the tool's reason for a failure.
    fn error_text(&self) -> Option<&str> {
        self.extra
            .get("error")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .or_else(|| self.get_error())
    }
}

/// Reads a value as a boolean. Other vendors' tools write `"false"` or `0` for `false`.
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

/// Whether the `error` of a response is really an error. A number may be a measurement.
fn tells_of_an_error(error: &Value) -> bool {
    match error {
        Value::Null | Value::Number(_) => false,
        Value::Bool(word) => *word,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
