//! The causes of failures, for programs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The cause of a failure, for programs. The exit code only separates damage from other failures, because the
/// client interprets exit codes too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named after the failures of HookError")]
pub enum ErrorCode {
    Parse,
    Validation,
    Timeout,
    Storage,
    SessionNotFound,
    CallNotFound,
    Corruption,
    Policy,
    Crisis,
    Usage,
    Internal,
}

impl ErrorCode {
    /// All causes.
    pub const ALL: [Self; 11] = [
        Self::Parse,
        Self::Validation,
        Self::Timeout,
        Self::Storage,
        Self::SessionNotFound,
        Self::CallNotFound,
        Self::Corruption,
        Self::Policy,
        Self::Crisis,
        Self::Usage,
        Self::Internal,
    ];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Validation => "validation",
            Self::Timeout => "timeout",
            Self::Storage => "storage",
            Self::SessionNotFound => "session_not_found",
            Self::CallNotFound => "call_not_found",
            Self::Corruption => "corruption",
            Self::Policy => "policy",
            Self::Crisis => "crisis",
            Self::Usage => "usage",
            Self::Internal => "internal",
        }
    }

    /// What the user can do, for the line on stderr.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Parse => {
                "send one JSON object: the client's payload (hook_event_name) or an envelope (hook_type)"
            }
            Self::Validation => "correct the field and send the event again",
            Self::Usage => "run `context-graph hooks --help`",
            Self::Timeout => {
                "look for a pipe that is never closed, a slow disk, or a policy or gate that runs long"
            }
            Self::SessionNotFound => "run `context-graph hooks session-start` first",
            Self::CallNotFound => "`context-graph audit log` shows the calls there are",
            Self::Storage => {
                "make sure that you can write to the project's .context-graph folder and that the disk has room"
            }
            Self::Corruption => {
                "damaged data is kept aside; the next event works; `context-graph audit verify` says more"
            }
            Self::Policy => "`context-graph policy check` names the policy",
            Self::Crisis => "`context-graph consciousness explain` says what pulled away from the purpose",
            Self::Internal => "please report this with the input that caused it",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
