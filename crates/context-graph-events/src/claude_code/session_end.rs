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
        /// The user left at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// The client says `other`: every print-mode end, and signals.
        Unspecified = "other",
    }
}

/// How a session ended: a closed list, which the envelope gives and the client's reasons map to.
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
    /// The user broke off.
    UserAbort,
    /// The user cleared the conversation.
    Clear,
    /// The user logged out.
    Logout,
}

impl SessionEndStatus {
    /// All six.
    pub const ALL: [Self; 6] =
        [Self::Normal, Self::Timeout, Self::Error, Self::UserAbort, Self::Clear, Self::Logout];

    /// What a reason of the client's means. One we do not know counts as an error.
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
    /// A session ends. The client gives a hook about a second and a half here unless its timeout is set.
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

    /// How the session ended: as the sender says, else as the reason means.
    pub fn status(&self) -> SessionEndStatus {
        self.stated_status().unwrap_or_else(|| SessionEndStatus::from_claude_code_reason(self.reason.as_str()))
    }

    /// The status that the sender gave. The client gives none.
    pub fn stated_status(&self) -> Option<SessionEndStatus> {
        self.extra.get("status").and_then(Value::as_str).and_then(SessionEndStatus::named)
    }

    /// How long the session lasted, as the sender says. The client does not say, and 0 is no duration.
    pub fn duration_ms(&self) -> Option<u64> {
        self.extra.get("duration_ms").and_then(Value::as_u64).filter(|ms| *ms > 0)
    }
}

reply! {
    /// Nothing can be said to a session that ends.
    SessionEndReply to SessionEnd { verbs: [], top: [], specific: [], shared: [], }
}
