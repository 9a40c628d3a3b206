//! Errors of stored data, and what the user can do about them.
//!
//! Callers can tell every variant apart. The texts for people are part of the contract; exit codes are not,
//! they belong to the binary.

use std::io;
use std::path::{Path, PathBuf};

use crate::live::Position;

/// Result of a storage operation.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a storage operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The database engine failed.
    #[error("Database error: {0}")]
    Database(#[source] Cause),

    /// A value could not be encoded.
    #[error("Serialization error: {0}")]
    Serialization(#[from] postcard::Error),

    /// No session with that id is stored.
    #[error("Session not found: {0}")]
    SessionNotFound(String),

    /// The caller's data cannot be stored as it is.
    #[error("Invalid snapshot data: {0}")]
    InvalidData(String),

    /// Stored bytes were not valid. They were moved away, so this is reported once; the next event starts from
    /// empty.
    #[error("{what} is corrupted; its bytes were moved to {}", .moved_to.display())]
    Corrupted {
        /// What was damaged.
        what: String,
        /// Where its bytes are now.
        moved_to: PathBuf,
    },

    /// The file system returned an error.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },

    /// Written by a newer version of this program.
    #[error("{what} has format {found}, this program reads up to {supported}; update context-graph")]
    TooNew {
        /// What has the newer format.
        what: String,
        /// The format found.
        found: u16,
        /// The newest format this program reads.
        supported: u16,
    },

    /// The store was written by a newer version of this program.
    #[error("the store was made by context-graph {made_by}, this is {this}; update context-graph")]
    NewerStore {
        /// The version that made it.
        made_by: String,
        /// The version of this program.
        this: String,
    },

    /// The store's schema is not ours. Meanwhile events wait in journals.
    #[error("another program changed the store: {what}; `context-graph maintain --rebuild` repairs it")]
    Changed {
        /// What is different.
        what: String,
    },

    /// Other processes use the store, and the caller cannot wait any longer.
    #[error("{} is in use by others; try again", .path.display())]
    Busy {
        /// The store.
        path: PathBuf,
    },

    /// The session was forgotten, and files with its events were left behind. What follows `up_to` is new.
    #[error("the session was forgotten; what was left of it is not stored again")]
    Forgotten {
        /// Where the forgotten part of its journal ends.
        up_to: Position,
    },

    /// An SQL query that cannot be answered.
    #[error("the query cannot be run: {0}")]
    Question(String),

    /// The session id cannot be used.
    #[error("Invalid session id: {0}")]
    InvalidId(String),

    /// No space left. Data stored before is unharmed.
    #[error("disk full: cannot {action} {}; free some space, what was stored before is unharmed", .path.display())]
    DiskFull {
        /// What was attempted, as a verb phrase.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
    },

    /// A path that must not or cannot be used, with what to do instead.
    #[error("{}: {problem}; {next_step}", .path.display())]
    Path {
        /// The path in question.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What the user can do.
        next_step: &'static str,
    },
}

impl StorageError {
    /// Adds the attempted action and the path to an I/O error; a full disk becomes [`StorageError::DiskFull`].
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { action, path: path.to_path_buf() }
            }
            _ => Self::Io { action, path: path.to_path_buf(), source },
        }
    }

    /// Whether the data can wait in a journal: nothing is damaged, and a later attempt may succeed.
    pub fn can_wait(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::DiskFull { .. }
                | Self::NewerStore { .. }
                | Self::TooNew { .. }
                | Self::Changed { .. }
                | Self::Path { .. }
                | Self::Io { .. }
        )
    }

    /// Whether the message already says what to do about it.
    pub const fn says_what_to_do(&self) -> bool {
        matches!(
            self,
            Self::Path { .. }
                | Self::DiskFull { .. }
                | Self::NewerStore { .. }
                | Self::TooNew { .. }
                | Self::Changed { .. }
                | Self::Busy { .. }
        )
    }

    pub(crate) fn database(cause: impl Into<Cause>) -> Self {
        Self::Database(cause.into())
    }
}

/// Adds the attempted action and the path to an I/O result.
pub(crate) trait IoContext<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn context(self, action: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| StorageError::io(action, path, source))
    }
}
