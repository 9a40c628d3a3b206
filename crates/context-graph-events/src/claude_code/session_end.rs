//! A session ends.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::decode::DecodeError;
use crate::fields::FieldType;

open_enum! {
    /// Why the session ended.
    ExitReason {
        /// The user cleared the conversation.
        Clear = "clear",
        /// Another session was resumed instead.
        Resume = "resume",
        /// The user logged out.
        Logout = "logout",
        /// The user exited at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// The client's `other`: every end in print mode, and signals.
        Unspecified = "other",
    }
}

/// How a session ended: a closed list. The envelope gives it directly; the client's reasons are mapped to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEndStatus {
    /// Cleanly.
    #[default]
    Normal,
    /// It took too long.
    Timeout,
    /// Something went wrong, or the client did not say.
    Error,
    /// The user aborted.
    UserAbort,
    /// The user cleared the conversation.
    Clear,
    /// The user logged out.
    Logout,
}

impl SessionEndStatus {
    /// All statuses.
    pub const ALL: [Self; 6] =
        [Self::Normal, Self::Timeout, Self::Error, Self::UserAbort, Self::Clear, Self::Logout];

    /// The status for one of the client's reasons. An unknown reason counts as an error.
    pub fn from_claude_code_reason(reason: &str) -> Self {
        match reason {
            "exit" => Self::Normal,
            "clear" => Self::Clear,
            "logout" => Self::Logout,
            "prompt_input_exit" => Self::UserAbort,
            _ => Self::Error,
        }
    }

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::UserAbort => "user_abort",
            Self::Clear => "clear",
            Self::Logout => "logout",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

impl fmt::Display for SessionEndStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FieldType for SessionEndStatus {
    const EXPECTED: &'static str = "one of normal, timeout, error, user_abort, clear, logout";

    fn read(value: Value) -> Result<Self, DecodeError> {
        let name = value.as_str().ok_or_else(|| DecodeError::wrong_type(Self::EXPECTED, &value))?;
        Self::named(name).ok_or_else(|| DecodeError::WrongType {
            path: String::new(),
            expected: Self::EXPECTED,
            actual: format!("`{name}`"),
        })
    }

    fn schema() -> Value {
        json!({"enum": Self::ALL.map(Self::as_str)})
    }
}

payload! {
    /// A session ends. The client gives a hook about 1.5 seconds here unless a timeout is configured.
    SessionEndPayload of SessionEnd answered by SessionEndReply {
        /// Why.
        required reason: ExitReason,
    }
}

impl SessionEndPayload {
    /// Whether the user cleared the conversation, so that another session follows at once.
    pub fn is_clear(&self) -> bool {
        self.reason == ExitReason::Clear
    }

    /// How the session ended: the sender's status, else the one for the reason.
    pub fn status(&self) -> SessionEndStatus {
        self.stated_status().unwrap_or_else(|| SessionEndStatus::from_claude_code_reason(self.reason.as_str()))
    }

    /// The sender's status. The client gives none.
    pub fn stated_status(&self) -> Option<SessionEndStatus> {
        self.extra.get("status").and_then(Value::as_str).and_then(SessionEndStatus::named)
    }

    /// How long the session lasted, according to the sender. The client does not send it, and 0 counts as not
    /// given.
    pub fn duration_ms(&self) -> Option<u64> {
        self.extra.get("duration_ms").and_then(Value::as_u64).filter(|ms| *ms > 0)
    }
}

reply! {
    /// No reply is possible to a session that ends.
    SessionEndReply to SessionEnd { verbs: [], top: [], specific: [], shared: [], }
}
