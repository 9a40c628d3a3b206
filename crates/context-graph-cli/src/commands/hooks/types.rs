//! The hook contract: what arrives in the envelope form, and what every hook answers.
//!
//! The client itself sends flat payloads (see [`context_graph_events`]); programs that wrap it may send this
//! envelope instead: `{"hook_type", "session_id", "timestamp_ms", "payload": {"type", "data"}}`. It is strict: an
//! unknown payload type or status is an error. Both forms become one internal event in [`super::input`].
//!
//! What sessions keep and measure is not the envelope's alone, so it is defined below and re-exported here:
//! [`SessionEndStatus`] by the events crate; [`ConsciousnessState`], [`ICClassification`], [`ICLevel`] and
//! [`JohariQuadrant`] by the core.
//!
//! | envelope `hook_type` | client event | budget |
//! |---|---|---|
//! | `session_start` | `SessionStart` | 5000 ms |
//! | `pre_tool_use` | `PreToolUse` | 100 ms, no database |
//! | `post_tool_use` | `PostToolUse` | 3000 ms |
//! | `user_prompt_submit` | `UserPromptSubmit` | 2000 ms |
//! | `session_end` | `SessionEnd` | 30000 ms |

use context_graph_events::EventName;
use context_graph_events::decode::DecodeError;
use context_graph_events::fields::Fields;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use context_graph_core::gwt::consciousness::ConsciousnessState;
pub use context_graph_core::gwt::ic_monitor::{ICClassification, ICLevel};
pub use context_graph_core::gwt::johari::JohariQuadrant;
use context_graph_core::session::Ruling;
pub use context_graph_events::claude_code::SessionEndStatus;

use super::error::ErrorCode;
use crate::clock;

#[cfg(test)]
mod hook_payload_tests;

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
    /// All five.
    pub const ALL: [Self; 5] =
        [Self::SessionStart, Self::PreToolUse, Self::PostToolUse, Self::UserPromptSubmit, Self::SessionEnd];

    /// How long the hook may take.
    pub const fn timeout_ms(&self) -> u64 {
        self.event_name().budget_ms()
    }

    /// Whether the hook must do without the database.
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

    fn read(fields: &mut Fields, key: &str) -> Result<Self, DecodeError> {
        let text: String = fields.required(key)?;
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(DecodeError::WrongType {
            path: key.to_owned(),
            expected: "one of session_start, pre_tool_use, post_tool_use, user_prompt_submit, session_end",
            actual: format!("`{text}`"),
        })
    }
}

/// One message of the conversation so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// `user`, `assistant` or `system`; must not be empty.
    #[serde(deserialize_with = "not_empty")]
    pub role: String,
    /// The text; must not be empty.
    #[serde(deserialize_with = "not_empty")]
    pub content: String,
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match String::deserialize(deserializer)? {
        empty if empty.trim().is_empty() => Err(D::Error::invalid_length(0, &"a text that is not empty")),
        text => Ok(text),
    }
}

impl ConversationMessage {
    /// A message of any role.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }

    /// A message of the user's.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// A message of the model's.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }

    /// A message of the system's.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    fn read(value: Value) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value)?;
        let mut text = |key: &str| match fields.required::<String>(key)? {
            empty if empty.trim().is_empty() => Err(DecodeError::WrongType {
                path: key.to_owned(),
                expected: "a text that is not empty",
                actual: "an empty one".to_owned(),
            }),
            text => Ok(text),
        };
        Ok(Self { role: text("role")?, content: text("content")? })
    }

    /// Messages, with errors that say which one is wrong.
    pub(super) fn read_all(values: Vec<Value>) -> Result<Vec<Self>, DecodeError> {
        let read = |(at, value)| Self::read(value).map_err(|error| error.inside(&format!("[{at}]")));
        values.into_iter().enumerate().map(read).collect()
    }
}

/// What a sender says of a call's error: its text, or that there is none.
pub type StatedError = Option<String>;

fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<StatedError>, D::Error> {
    StatedError::deserialize(deserializer).map(Some)
}

/// What an event carries, in the envelope form: `{"type": "session_start", "data": {…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum HookPayload {
    /// A session begins.
    SessionStart {
        /// The project's folder.
        cwd: String,
        /// `startup`, `resume`, `clear`, …
        source: String,
        /// The session that this one continues.
        previous_session_id: Option<String>,
    },
    /// A tool is about to run.
    PreToolUse {
        /// The tool.
        tool_name: String,
        /// Its input, which differs from tool to tool.
        tool_input: Value,
        /// The call's id.
        tool_use_id: Option<String>,
    },
    /// A tool has run.
    PostToolUse {
        /// The tool.
        tool_name: String,
        /// Its input.
        tool_input: Value,
        /// Its result.
        tool_response: Value,
        /// The call's id.
        tool_use_id: Option<String>,
        /// Why it failed. A call with an error is a failed one, whatever its result says; `null` says that it did not
        /// fail, and `None` that the sender does not say.
        #[serde(default, deserialize_with = "stated", skip_serializing_if = "Option::is_none")]
        error: Option<StatedError>,
        /// How long the tool took.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A prompt arrives.
    UserPromptSubmit {
        /// The prompt.
        prompt: String,
        /// The last few messages before it.
        context: Option<Vec<ConversationMessage>>,
    },
    /// A session ends.
    SessionEnd {
        /// How long it lasted.
        duration_ms: u64,
        /// How it ended.
        status: SessionEndStatus,
        /// The client's word for it.
        reason: String,
    },
}

impl HookPayload {
    /// A session begins.
    pub fn session_start(
        cwd: impl Into<String>,
        source: impl Into<String>,
        previous_session_id: Option<String>,
    ) -> Self {
        Self::SessionStart { cwd: cwd.into(), source: source.into(), previous_session_id }
    }

    /// A tool is about to run.
    pub fn pre_tool_use(
        tool_name: impl Into<String>,
        tool_input: Value,
        tool_use_id: Option<String>,
    ) -> Self {
        Self::PreToolUse { tool_name: tool_name.into(), tool_input, tool_use_id }
    }

    /// A tool has run.
    pub fn post_tool_use(
        tool_name: impl Into<String>,
        tool_input: Value,
        tool_response: Value,
        tool_use_id: Option<String>,
    ) -> Self {
        let tool_name = tool_name.into();
        let (error, duration_ms) = (None, None);
        Self::PostToolUse { tool_name, tool_input, tool_response, tool_use_id, error, duration_ms }
    }

    /// A prompt arrives.
    pub fn user_prompt(prompt: impl Into<String>, context: Option<Vec<ConversationMessage>>) -> Self {
        Self::UserPromptSubmit { prompt: prompt.into(), context }
    }

    /// A session ends; the status follows from the reason.
    pub fn session_end(duration_ms: u64, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let status = SessionEndStatus::from_claude_code_reason(&reason);
        Self::SessionEnd { duration_ms, status, reason }
    }

    /// Whether a session begins.
    pub const fn is_session_start(&self) -> bool {
        matches!(self, Self::SessionStart { .. })
    }

    /// Whether a tool is about to run.
    pub const fn is_pre_tool_use(&self) -> bool {
        matches!(self, Self::PreToolUse { .. })
    }

    /// Whether a tool has run.
    pub const fn is_post_tool_use(&self) -> bool {
        matches!(self, Self::PostToolUse { .. })
    }

    /// Whether a prompt arrives.
    pub const fn is_user_prompt_submit(&self) -> bool {
        matches!(self, Self::UserPromptSubmit { .. })
    }

    /// Whether a session ends.
    pub const fn is_session_end(&self) -> bool {
        matches!(self, Self::SessionEnd { .. })
    }

    /// The event this payload belongs to.
    pub const fn event_type(&self) -> HookEventType {
        match self {
            Self::SessionStart { .. } => HookEventType::SessionStart,
            Self::PreToolUse { .. } => HookEventType::PreToolUse,
            Self::PostToolUse { .. } => HookEventType::PostToolUse,
            Self::UserPromptSubmit { .. } => HookEventType::UserPromptSubmit,
            Self::SessionEnd { .. } => HookEventType::SessionEnd,
        }
    }

    /// The tool, where one is involved.
    pub fn tool_name(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { tool_name, .. } | Self::PostToolUse { tool_name, .. } => Some(tool_name),
            _ => None,
        }
    }

    /// The folder in which a session begins.
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Self::SessionStart { cwd, .. } => Some(cwd),
            _ => None,
        }
    }

    /// The prompt that arrives.
    pub fn prompt(&self) -> Option<&str> {
        match self {
            Self::UserPromptSubmit { prompt, .. } => Some(prompt),
            _ => None,
        }
    }

    /// How long a session that ends has lasted.
    pub const fn duration_ms(&self) -> Option<u64> {
        match self {
            Self::SessionEnd { duration_ms, .. } => Some(*duration_ms),
            _ => None,
        }
    }

    fn from_value(value: Value) -> Result<Self, DecodeError> {
        let mut tagged = Fields::of(value)?;
        let kind = HookEventType::read(&mut tagged, "type")?;
        let data: Map<String, Value> = tagged.required("data")?;
        Self::from_data(kind, Fields::new(data)).map_err(|e| e.inside("data"))
    }

    /// Senders that follow the older contract give `tool_output` and `error` and neither input nor response.
    fn post_tool_use_of(mut data: Fields) -> Result<Self, DecodeError> {
        let is_older = data.peek("tool_response").is_none()
            && (data.peek("tool_output").is_some() || data.peek("error").is_some());
        let (tool_input, tool_response) = if is_older {
            (data.take("tool_input").unwrap_or_default(), data.take("tool_output").unwrap_or_default())
        } else {
            (data.required("tool_input")?, data.required("tool_response")?)
        };
        let error = data.peek("error").is_some().then(|| data.nullable("error")).transpose()?;
        Ok(Self::PostToolUse {
            tool_name: data.required("tool_name")?,
            tool_input,
            tool_response,
            tool_use_id: data.optional("tool_use_id")?,
            error,
            duration_ms: data.optional("duration_ms")?,
        })
    }

    fn from_data(kind: HookEventType, mut data: Fields) -> Result<Self, DecodeError> {
        Ok(match kind {
            HookEventType::SessionStart => Self::SessionStart {
                cwd: data.required("cwd")?,
                source: data.required("source")?,
                previous_session_id: data.optional("previous_session_id")?,
            },
            HookEventType::PreToolUse => Self::PreToolUse {
                tool_name: data.required("tool_name")?,
                tool_input: data.required("tool_input")?,
                tool_use_id: data.optional("tool_use_id")?,
            },
            HookEventType::PostToolUse => Self::post_tool_use_of(data)?,
            HookEventType::UserPromptSubmit => Self::UserPromptSubmit {
                prompt: data.required("prompt")?,
                context: data
                    .optional::<Vec<Value>>("context")?
                    .map(ConversationMessage::read_all)
                    .transpose()
                    .map_err(|e| e.inside("context"))?,
            },
            HookEventType::SessionEnd => Self::SessionEnd {
                duration_ms: data.required("duration_ms")?,
                status: data.required("status")?,
                reason: data.required("reason")?,
            },
        })
    }
}

/// The envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HookInput {
    /// Which event; must agree with the payload.
    pub hook_type: HookEventType,
    /// The session; must not be empty.
    pub session_id: String,
    /// When, in milliseconds since 1970; must be positive.
    pub timestamp_ms: i64,
    /// What the event carries.
    pub payload: HookPayload,
    /// Where the transcript is.
    #[serde(default)]
    pub transcript_path: Option<String>,
    /// The session's current folder.
    #[serde(default)]
    pub cwd: Option<String>,
    /// How much the agent may do without asking.
    #[serde(default)]
    pub permission_mode: Option<String>,
}

impl HookInput {
    /// An envelope stamped with the current time.
    pub fn new(hook_type: HookEventType, session_id: impl Into<String>, payload: HookPayload) -> Self {
        Self::with_timestamp(hook_type, session_id, clock::now_ms(), payload)
    }

    /// An envelope of a given time.
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

    /// Whether the hook must do without the database.
    pub const fn is_fast_path(&self) -> bool {
        self.hook_type.is_fast_path()
    }

    /// How long the hook may take.
    pub const fn timeout_ms(&self) -> u64 {
        self.hook_type.timeout_ms()
    }
}

/// What every hook answers. The client's own fields stand beside these in the same object; what is not known is
/// left out, never `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HookOutput {
    /// Whether the hook did its work.
    pub success: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The session's measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consciousness_state: Option<ConsciousnessState>,
    /// Its continuity, classified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ic_classification: Option<ICClassification>,
    /// What was put in front of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_injection: Option<String>,
    /// The session, where the caller did not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What was decided about a tool call, where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// What a session that ended came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_summary: Option<String>,
    /// What a person should know: damage that was found and mended, a session that had ended and goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// How long it took, to the start of writing this.
    pub execution_time_ms: u64,
}
