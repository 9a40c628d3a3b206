//! How a command for people fails: in words with a next step, or in JSON where JSON was asked for.

use std::fmt;

use context_graph_storage::StorageError;
use serde_json::json;

use super::hooks::error::ErrorCode;
use crate::{ExitStatus, terminal};

/// What a command gives back.
pub(crate) type Outcome = Result<(), Failure>;

/// Why a command failed, and what can be done about it.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    next_step: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), next_step: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    pub(crate) fn session_not_found(id: &str) -> Self {
        Self::new(ErrorCode::SessionNotFound, format!("no session `{id}`"))
            .with_next_step("`context-graph session list` shows those there are")
    }

    pub(crate) fn no_sessions() -> Self {
        Self::new(ErrorCode::SessionNotFound, "this project has no sessions yet")
            .with_next_step("they begin with the first hook event; --project names another project")
    }

    pub(crate) fn with_next_step(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = Some(next_step.into());
        self
    }

    /// Says it, and how the process ends.
    pub(crate) fn report(&self, as_json: bool) -> ExitStatus {
        terminal::complain(&self.to_string());
        if as_json {
            let object = json!({"success": false, "error": self.message, "error_code": self.code});
            terminal::print(format!("{object}\n").as_bytes());
        }
        match self.code {
            ErrorCode::Corruption => ExitStatus::Corruption,
            _ => ExitStatus::Error,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.next_step.as_ref().map_or(Ok(()), |next| write!(f, " ({next})"))
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        let code = match &error {
            StorageError::SessionNotFound(_) => ErrorCode::SessionNotFound,
            StorageError::InvalidId(_) => ErrorCode::Validation,
            StorageError::Corrupted { .. } => ErrorCode::Corruption,
            _ => ErrorCode::Storage,
        };
        Self::new(code, error.to_string())
    }
}
