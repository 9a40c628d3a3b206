//! The envelope: the form in which programs that wrap the client may send events, instead of the client's flat
//! payload.
//!
//! `{"hook_type", "session_id", "timestamp_ms", "payload": {"type", "data"}}`. It is strict: an unknown payload
//! type or status is an error. [`Event::from`](crate::Event) converts it to an event.

mod convert;
mod message;
mod payload;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::EventName;
use crate::decode::DecodeError;
use crate::fields::Fields;

pub use message::ConversationMessage;
pub use payload::{HookPayload, StatedError};

/// The five events that the envelope can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEventType {
    /// A session begins.
    SessionStart,
    /// A tool is about to run: the fast path.
    PreToolUse,
    /// A tool has run.
    PostToolUse,
    /// A prompt arrives.
    UserPromptSubmit,
    /// A session ends.
    SessionEnd,
}

impl HookEventType {
    /// All five events.
    pub const ALL: [Self; 5] =
        [Self::SessionStart, Self::PreToolUse, Self::PostToolUse, Self::UserPromptSubmit, Self::SessionEnd];

    /// Whether its hook works without the database, unless it is called with `--fast-path=false`.
    pub const fn is_fast_path(&self) -> bool {
        matches!(self, Self::PreToolUse)
    }

    /// The client's name for the event.
    pub const fn event_name(self) -> EventName {
        match self {
            Self::SessionStart => EventName::SessionStart,
            Self::PreToolUse => EventName::PreToolUse,
            Self::PostToolUse => EventName::PostToolUse,
            Self::UserPromptSubmit => EventName::UserPromptSubmit,
            Self::SessionEnd => EventName::SessionEnd,
        }
    }

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::PreToolUse => "pre_tool_use",
            Self::PostToolUse => "post_tool_use",
            Self::UserPromptSubmit => "user_prompt_submit",
            Self::SessionEnd => "session_end",
        }
    }

    pub(super) fn read(fields: &mut Fields<'_>, key: &str) -> Result<Self, DecodeError> {
        let text: String = fields.required(key)?;
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(DecodeError::WrongType {
            path: key.to_owned(),
            expected: "one of session_start, pre_tool_use, post_tool_use, user_prompt_submit, session_end",
            actual: format!("`{text}`"),
        })
    }
}

/// The envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookInput {
    /// The event; must match the payload.
    pub hook_type: HookEventType,
    /// The session's id; must not be empty.
    pub session_id: String,
    /// The time in Unix milliseconds; must be positive.
    pub timestamp_ms: i64,
    /// The event's data.
    pub payload: HookPayload,
    /// The transcript file.
    #[serde(default)]
    pub transcript_path: Option<String>,
    /// The session's current folder.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The permission mode: what the agent may do without asking.
    #[serde(default)]
    pub permission_mode: Option<String>,
}

impl HookInput {
    /// An envelope with a given time.
    pub fn with_timestamp(
        hook_type: HookEventType,
        session_id: impl Into<String>,
        timestamp_ms: i64,
        payload: HookPayload,
    ) -> Self {
        Self {
            hook_type,
            session_id: session_id.into(),
            timestamp_ms,
            payload,
            transcript_path: None,
            cwd: None,
            permission_mode: None,
        }
    }

    /// Reads an envelope.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Reads an envelope from a parsed object, with errors that name the field.
    pub fn from_object(map: Map<String, Value>) -> Result<Self, DecodeError> {
        let mut fields = Fields::new(map);
        Ok(Self {
            hook_type: HookEventType::read(&mut fields, "hook_type")?,
            session_id: fields.required("session_id")?,
            timestamp_ms: fields.required("timestamp_ms")?,
            payload: HookPayload::from_value(fields.required("payload")?).map_err(|e| e.inside("payload"))?,
            transcript_path: fields.optional("transcript_path")?,
            cwd: fields.optional("cwd")?,
            permission_mode: fields.optional("permission_mode")?,
        })
    }

    /// What is wrong with it, if anything.
    pub fn validate(&self) -> Option<String> {
        if self.session_id.is_empty() {
            return Some("session_id cannot be empty".into());
        }
        if self.timestamp_ms <= 0 {
            return Some(format!("timestamp_ms must be positive, found {}", self.timestamp_ms));
        }
        let actual = self.payload.event_type();
        (self.hook_type != actual).then(|| {
            format!("hook_type {} does not match payload type {}", self.hook_type.as_str(), actual.as_str())
        })
    }

    /// Whether its hook works without the database, unless it is called with `--fast-path=false`.
    pub const fn is_fast_path(&self) -> bool {
        self.hook_type.is_fast_path()
    }
}
