//! One event as it is remembered.

use std::borrow::Cow;

use context_graph_events::{DecodeError, Event, decode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bound::{Bounds, Cut, bound};
use super::{LinkOrigin, Remembered};
use crate::gwt::session_identity::KURAMOTO_N;
use context_graph_secrets::{Memory, Redactor};

/// The session before, as a new one found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its id.
    pub session_id: String,
    /// How it was found.
    pub origin: LinkOrigin,
    /// What it was for, as it was stored.
    pub purpose_vector: [f32; KURAMOTO_N],
}

/// What was decided about an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The verdict: `deny`, `ask`, `modify`, …
    pub verdict: String,
    /// The rules behind it.
    pub rules: Vec<String>,
    /// Why, and what the event could not carry of it.
    pub reason: String,
}

impl Ruling {
    /// The verdict where rules wanted something that the event cannot carry, so that nothing came of it.
    pub const DROPPED: &str = "dropped";

    /// Whether the call was not to happen.
    pub fn refuses(&self) -> bool {
        matches!(self.verdict.as_str(), "halt" | "deny" | "block")
    }
}

/// What was decided about an event that arrives.
#[derive(Debug, Clone)]
pub struct NewRuling {
    /// Verdict and reasons.
    pub ruling: Ruling,
    /// The input that the call is given instead.
    pub updated_input: Option<Map<String, Value>>,
}

/// One event as it is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When it came.
    pub at_ms: i64,
    /// The call it is about, where it is about one.
    pub tool_use_id: Option<String>,
    /// The payload as JSON, cut to size.
    pub payload: String,
    /// How long our hook took over it, in microseconds, up to writing this.
    pub took_us: u32,
    /// The session before, on the event that found it. It stands in the record so that a session rebuilt from its
    /// records is the same session.
    pub link: Option<Link>,
    /// What was decided about it, where something was.
    pub ruling: Option<Ruling>,
    /// The input that the call was given instead, whole, as JSON.
    #[serde(default)]
    pub updated_input: Option<String>,
    /// The values of which the payload has only the beginning and the end.
    #[serde(default)]
    pub cuts: Vec<Cut>,
    /// The files that the sessions before worked on, on the event that found the one before.
    #[serde(default)]
    pub remembered: Vec<Remembered>,
}

impl EventRecord {
    /// Cuts an event to a size that can be kept, takes secrets out, and gives it back beside its record: what is
    /// remembered is exactly what the session is stepped with. Secrets that `memory` knows are taken out wherever they stand,
    /// and it learns those that are recognised now.
    pub fn of(
        event: Event,
        at_ms: i64,
        redactor: &Redactor,
        memory: &mut Memory,
    ) -> Result<(Self, Event), DecodeError> {
        let (record, object) = Self::and_object(event, at_ms, redactor, memory);
        Ok((record, Event::from_object(object)?))
    }

    /// The record alone, for callers that do not step the session.
    pub fn alone(event: Event, at_ms: i64, redactor: &Redactor, memory: &mut Memory) -> Self {
        Self::and_object(event, at_ms, redactor, memory).0
    }

    fn and_object(
        event: Event,
        at_ms: i64,
        redactor: &Redactor,
        memory: &mut Memory,
    ) -> (Self, Map<String, Value>) {
        let tool_use_id = event.tool_use_id().map(str::to_owned);
        let mut object = event.into_object();
        let mut cuts = bound(&mut object, Bounds::JOURNAL);
        // Names of fields can be secrets too.
        for cut in &mut cuts {
            if let Cow::Owned(redacted) = redactor.redact_text_with(&cut.at, memory) {
                cut.at = redacted;
            }
        }
        // The id says which session this is and is no text of anyone's.
        let session_id = object.remove("session_id");
        redactor.redact_object(&mut object, memory);
        if let Some(id) = session_id {
            object.insert("session_id".to_owned(), id);
        }
        // Only a map with keys that are not strings cannot be written, and there is none.
        let payload = serde_json::to_string(&object).unwrap_or_default();
        let (took_us, link, ruling, updated_input, remembered) = (0, None, None, None, Vec::new());
        (Self { at_ms, tool_use_id, payload, took_us, link, ruling, updated_input, cuts, remembered }, object)
    }

    /// Adds what was decided: verdict and reasons, and the input that the call is given instead. Reasons quote what
    /// they are about, so secrets are taken out of them too.
    #[must_use]
    pub fn decided(mut self, decision: Option<NewRuling>, redactor: &Redactor, memory: &mut Memory) -> Self {
        let Some(NewRuling { mut ruling, updated_input }) = decision else { return self };
        ruling.reason = redactor.redact_text_with(&ruling.reason, memory).into_owned();
        self.ruling = Some(ruling);
        self.updated_input = updated_input.map(|mut input| {
            bound(&mut input, Bounds::JOURNAL);
            redactor.redact_object(&mut input, memory);
            Value::Object(input).to_string()
        });
        self
    }

    /// The event again.
    pub fn event(&self) -> Result<Event, DecodeError> {
        Event::from_slice(self.payload.as_bytes())
    }

    /// The record cut down to what is kept for good.
    #[must_use]
    pub fn for_the_log(mut self) -> Self {
        if self.payload.len() > Bounds::LOG.total / 4
            && let Ok(mut object) = decode::object(self.payload.as_bytes())
        {
            for cut in bound(&mut object, Bounds::LOG) {
                // What was cut before is known by what it was then.
                if self.cuts.iter().all(|earlier| earlier.at != cut.at) {
                    self.cuts.push(cut);
                }
            }
            self.payload = serde_json::to_string(&object).unwrap_or(self.payload);
        }
        self
    }
}
