//! The result of an edit, for people to read.

use std::fmt;

use crate::undo::Undo;

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text of the file; `None` if there should be no file.
    pub text: Option<String>,
    /// The changes, in the order they were made. Empty means that the text did not change.
    pub changes: Vec<Change>,
    /// What was intentionally left unchanged and should be reported.
    pub notes: Vec<Note>,
    /// After an installation: the data needed to restore the exact bytes.
    pub undo: Option<Undo>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// There was no file, or an empty one.
    Begun,
    /// A hook was added.
    HookAdded {
        /// Its event.
        event: String,
    },
    /// One of our hooks was updated.
    HookUpdated {
        /// Its event.
        event: String,
        /// The keys that differed from the plan.
        keys: Vec<&'static str>,
    },
    /// One of our hooks was removed.
    HookRemoved {
        /// Its event.
        event: String,
    },
    /// The status line was added.
    StatusLineAdded,
    /// Our status line was updated.
    StatusLineUpdated,
    /// Our status line was removed.
    StatusLineRemoved,
    /// A file that is completely ours was written.
    FileWritten,
    /// A file that is completely ours was updated.
    FileUpdated,
    /// Everything is restored to the state before the installation, byte for byte.
    Restored,
    /// The file was removed: nothing but our entries was in it.
    FileRemoved,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("create the settings file"),
            Self::HookAdded { event } => write!(f, "add the hook for {event}"),
            Self::HookUpdated { event, keys } => {
                write!(f, "update the hook for {event} ({})", keys.join(", "))
            }
            Self::HookRemoved { event } => write!(f, "remove the hook for {event}"),
            Self::StatusLineAdded => f.write_str("add the status line"),
            Self::StatusLineUpdated => f.write_str("update the status line"),
            Self::StatusLineRemoved => f.write_str("remove the status line"),
            Self::FileWritten => f.write_str("write the file, which belongs to context-graph"),
            Self::FileUpdated => f.write_str("bring the file up to date, which belongs to context-graph"),
            Self::Restored => f.write_str("restore the file to what it was before, byte for byte"),
            Self::FileRemoved => f.write_str("remove the file: it was made by the installation"),
        }
    }
}

/// Something that was intentionally left unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// There is a status line, and it is not ours.
    StatusLineTaken {
        /// Its command, if it has one.
        command: Option<String>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StatusLineTaken { command: Some(command) } => {
                write!(f, "the status line `{}` stays unchanged", command.escape_debug())
            }
            Self::StatusLineTaken { command: None } => {
                f.write_str("there is another status line, and it stays")
            }
        }
    }
}
