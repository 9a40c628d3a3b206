//! One event as it is stored.

use std::borrow::Cow;

use context_graph_events::{DecodeError, Event, decode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bound::{Bounds, Cut, bound};
use super::{FoundBy, RememberedFile};
use crate::gwt::session_identity::KURAMOTO_N;
use context_graph_secrets::{Memory, Redactor};

/// The previous session, as a new one found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its id.
    pub session_id: String,
    /// How it was found.
    pub origin: FoundBy,
    /// Its stored purpose vector.
    pub purpose_vector: [f32; KURAMOTO_N],
}

/// What was decided about an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    /// The verdict: `deny`, `ask`, `modify`, …
    pub verdict: String,
    /// The rules behind it.
    pub rules: Vec<String>,
    /// Why, and which parts of the decision the event could not carry.
    pub reason: String,
}

impl Ruling {
    /// The verdict when rules wanted something that the event cannot carry, so it had no effect.
    pub const DROPPED: &str = "dropped";

    /// Whether the event is refused.
    pub fn refuses(&self) -> bool {
        matches!(self.verdict.as_str(), "halt" | "deny" | "block")
    }
}

/// What was decided about an incoming event.
#[derive(Debug, Clone)]
pub struct NewRuling {
    /// The verdict and its reasons.
    pub ruling: Ruling,
    /// The input that replaces the call's own.
    pub updated_input: Option<Map<String, Value>>,
}

/// One event as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When it came.
    pub at_ms: i64,
    /// The id of the call, if the event is about one.
    pub tool_use_id: Option<String>,
    /// The payload as JSON, cut to size.
    pub payload: String,
    /// How long our hook took until this was written, in microseconds.
    pub took_us: u32,
    /// The previous session, on the event that found it. It is in the record so that a session rebuilt from its
    /// records is the same.
    pub link: Option<Link>,
    /// What was decided about it, if anything.
    pub ruling: Option<Ruling>,
    /// The input that replaced the call's own, complete, as JSON.
    #[serde(default)]
    pub updated_input: Option<String>,
    /// Values that were cut: the payload has only their beginning and end.
    #[serde(default)]
    pub cuts: Vec<Cut>,
    /// The files of earlier sessions, on the event that found the previous one.
    #[serde(default)]
    pub remembered: Vec<RememberedFile>,
}

impl EventRecord {
    /// Cuts an event to size, redacts secrets, and returns it together with its record. So the session steps
    /// with exactly what is stored. Secrets in `memory` are redacted wherever they appear, and newly recognised
    /// ones are added to it.
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
        // The id only identifies the session and is never redacted.
        let session_id = object.remove("session_id");
        redactor.redact_object(&mut object, memory);
        if let Some(id) = session_id {
            object.insert("session_id".to_owned(), id);
        }
        // Serialization fails only for maps whose keys are not strings, and there are none.
        let payload = serde_json::to_string(&object).unwrap_or_default();
        let (took_us, link, ruling, updated_input, remembered) = (0, None, None, None, Vec::new());
        (Self { at_ms, tool_use_id, payload, took_us, link, ruling, updated_input, cuts, remembered }, object)
    }

    /// Adds what was decided: verdict and reasons, and the input that replaces the call's own. Reasons quote
    /// the call, so secrets are redacted in them too.
    #[must_use]
    pub fn decided(mut self, ruling: Option<NewRuling>, redactor: &Redactor, memory: &mut Memory) -> Self {
        let Some(NewRuling { mut ruling, updated_input }) = ruling else { return self };
        ruling.reason = redactor.redact_text_with(&ruling.reason, memory).into_owned();
        self.ruling = Some(ruling);
        self.updated_input = updated_input.map(|mut input| {
            bound(&mut input, Bounds::JOURNAL);
            redactor.redact_object(&mut input, memory);
            Value::Object(input).to_string()
        });
        self
    }

    /// Decodes the event.
    pub fn event(&self) -> Result<Event, DecodeError> {
        Event::from_text(&self.payload)
    }

    /// The record cut down for permanent storage.
    #[must_use]
    pub fn for_the_log(mut self) -> Self {
        if self.payload.len() > Bounds::LOG.total / 4
            && let Ok(mut object) = decode::object(self.payload.as_bytes())
        {
            for cut in bound(&mut object, Bounds::LOG) {
                // For a text that was cut earlier, the first cut has the original size and digest.
                if self.cuts.iter().all(|earlier| earlier.at != cut.at) {
                    self.cuts.push(cut);
                }
            }
            self.payload = serde_json::to_string(&object).unwrap_or(self.payload);
        }
        self
    }
}
