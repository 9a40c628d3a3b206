//! The payload of an envelope.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{ConversationMessage, HookEventType};
use crate::claude_code::SessionEndStatus;
use crate::decode::DecodeError;
use crate::fields::Fields;

/// What a sender says about a call's error: its text, or that there is none.
pub type StatedError = Option<String>;

fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<StatedError>, D::Error> {
    StatedError::deserialize(deserializer).map(Some)
}

/// The payload of an event in the envelope form: `{"type": "session_start", "data": {…}}`.
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
        /// Its input, which depends on the tool.
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
        /// Why it failed. A call with an error has failed, whatever its result says. `null` means that it did
        /// not fail, and `None` that the sender does not say.
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
        /// The client's reason for the end.
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

    /// The tool, if there is one.
    pub fn tool_name(&self) -> Option<&str> {
        match self {
            Self::PreToolUse { tool_name, .. } | Self::PostToolUse { tool_name, .. } => Some(tool_name),
            _ => None,
        }
    }

    /// The folder in which a session begins, if this is a session start.
    pub fn cwd(&self) -> Option<&str> {
        match self {
            Self::SessionStart { cwd, .. } => Some(cwd),
            _ => None,
        }
    }

    /// The prompt, if this is one.
    pub fn prompt(&self) -> Option<&str> {
        match self {
            Self::UserPromptSubmit { prompt, .. } => Some(prompt),
            _ => None,
        }
    }

    /// The duration of the session, if this is a session end.
    pub const fn duration_ms(&self) -> Option<u64> {
        match self {
            Self::SessionEnd { duration_ms, .. } => Some(*duration_ms),
            _ => None,
        }
    }

    pub(super) fn from_value(value: Value) -> Result<Self, DecodeError> {
        let mut tagged = Fields::of(value)?;
        let kind = HookEventType::read(&mut tagged, "type")?;
        let data: Map<String, Value> = tagged.required("data")?;
        Self::from_data(kind, Fields::new(data)).map_err(|e| e.inside("data"))
    }

    /// Senders that follow the older contract give `tool_output` and `error`, but neither input nor response.
    fn post_tool_use_of(mut data: Fields<'_>) -> Result<Self, DecodeError> {
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

    fn from_data(kind: HookEventType, mut data: Fields<'_>) -> Result<Self, DecodeError> {
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
