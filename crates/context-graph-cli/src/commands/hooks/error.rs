//! What can go wrong in a hook.

use context_graph_events::DecodeError;
use context_graph_storage::StorageError;
use thiserror::Error;

use crate::ExitStatus;
use crate::error_code::ErrorCode;

/// Why a hook failed.
#[derive(Debug, Error)]
pub enum HookError {
    /// The budget was used up.
    #[error("Hook timeout after {0}ms")]
    Timeout(u64),
    /// Well-formed input that makes no sense.
    #[error("Invalid input: {0}")]
    InvalidInput(String),
    /// A flag contradicts stdin, but the event was recorded: it must not be sent again.
    #[error("Invalid input: {0}")]
    Contradicted(String),
    /// Input in an unexpected form, or unreadable.
    #[error("Parse error: {0}")]
    Serialization(#[from] DecodeError),
    /// The disk or the data on it.
    #[error("Database error: {0}")]
    Storage(#[source] StorageError),
    /// Stored data failed a check: events were lost, or the state was made by somebody else.
    #[error("Database error: {}", put_aside_message(folder, above, pieces))]
    PutAside {
        /// The state folder.
        folder: std::path::PathBuf,
        /// The folder to which foreign state is moved.
        above: std::path::PathBuf,
        /// One text for each loss, and the names of foreign state that was moved.
        pieces: Vec<String>,
    },
    /// stdin could not be read.
    #[error("Parse error: stdin could not be read: {0}")]
    Stdin(std::io::Error),
    /// The session does not exist.
    #[error("Session not found: {0}")]
    SessionNotFound(String),
    /// Continuity is below the crisis threshold. Hooks do not fail because of it: it is a state, not a
    /// failure. `session status --fail-in-crisis` does, for callers that want to stop then.
    #[error("Crisis threshold breached: IC={0}")]
    CrisisTriggered(f32),
    /// Invalid arguments.
    #[error("{0}")]
    Usage(String),
    /// A policy needed more memory or stack than there is.
    #[error("a policy used too much memory or stack")]
    Policy,
    /// Memory, stack or processor time ran out, because of a limit or of the machine.
    #[error("{}", OUT_OF_RESOURCES)]
    OutOfResources,
    /// A bug in this program.
    #[error("Internal error: {0}")]
    Internal(String),
}

/// The message of [`HookError::OutOfResources`].
pub(super) const OUT_OF_RESOURCES: &str =
    "Internal error: the process ran out of memory, stack or processor time";

/// What was lost or moved aside, and what to do.
fn put_aside_message(folder: &std::path::Path, above: &std::path::Path, pieces: &[String]) -> String {
    let (foreign, lost): (Vec<&str>, Vec<&str>) =
        pieces.iter().map(String::as_str).partition(|piece| piece.starts_with("aside-"));
    let mut sentences = Vec::new();
    if !lost.is_empty() {
        let quarantine = folder.join("quarantine");
        let lost = lost.join("; ");
        sentences.push(format!("{lost}. What is left of them is in {}", quarantine.display()));
    }
    for piece in foreign {
        let piece = above.join(piece);
        sentences.push(format!(
            "state was found that you did not make here on this machine; it is not used, and was moved to {} \
             (if it is yours: `context-graph maintain --adopt`)",
            piece.display()
        ));
    }
    sentences.join("; ")
}

/// Separates mistakes of the caller from failures of the disk.
impl From<StorageError> for HookError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::SessionNotFound(id) => Self::SessionNotFound(id),
            StorageError::InvalidId(problem) => Self::InvalidInput(format!("session_id: {problem}")),
            other => Self::Storage(other),
        }
    }
}

impl HookError {
    /// The cause, for programs.
    pub const fn error_code(&self) -> ErrorCode {
        match self {
            Self::Timeout(_) => ErrorCode::Timeout,
            Self::InvalidInput(_) | Self::Contradicted(_) => ErrorCode::Validation,
            Self::CrisisTriggered(_) => ErrorCode::Crisis,
            Self::PutAside { .. } | Self::Storage(StorageError::Corrupted { .. }) => ErrorCode::Corruption,
            Self::Storage(_) => ErrorCode::Storage,
            Self::Serialization(_) | Self::Stdin(_) => ErrorCode::Parse,
            Self::SessionNotFound(_) => ErrorCode::SessionNotFound,
            Self::Usage(_) => ErrorCode::Usage,
            Self::Policy => ErrorCode::Policy,
            Self::OutOfResources | Self::Internal(_) => ErrorCode::Internal,
        }
    }

    /// What the user can do, if the error's message does not say it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Contradicted(_) => None,
            Self::Storage(error) if error.says_what_to_do() => None,
            _ => Some(self.error_code().hint()),
        }
    }

    /// How the process ends.
    pub const fn exit_status(&self) -> ExitStatus {
        match self.error_code() {
            ErrorCode::Corruption => ExitStatus::DamageOrDenial,
            _ => ExitStatus::Error,
        }
    }
}
