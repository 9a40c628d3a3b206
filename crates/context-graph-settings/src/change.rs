//! What an edit came to, for people to read.

use std::fmt;

use crate::undo::Undo;

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The text that the file should have; `None` if there should be no file.
    pub text: Option<String>,
    /// What is different now, in the order in which it was done. Empty means that the text is what it was.
    pub changes: Vec<Change>,
    /// What was left as it was on purpose, and should be said.
    pub notes: Vec<Note>,
    /// After an installation: what has to be kept to be able to give the exact bytes back.
    pub undo: Option<Undo>,
}

/// One thing that is different.
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
    /// A hook of ours was brought up to date.
    HookUpdated {
        /// Its event.
        event: String,
        /// The keys that were not as planned.
        keys: Vec<&'static str>,
    },
    /// A hook of ours was taken out.
    HookRemoved {
        /// Its event.
        event: String,
    },
    /// The status line was added.
    StatusLineAdded,
    /// Our status line was brought up to date.
    StatusLineUpdated,
    /// Our status line was taken out.
    StatusLineRemoved,
    /// Everything is again as it was before the installation, to the byte.
    Restored,
    /// Nothing is left of a file that only we had needed.
    FileRemoved,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("begin the settings file"),
            Self::HookAdded { event } => write!(f, "add the hook for {event}"),
            Self::HookUpdated { event, keys } => {
                write!(f, "update the hook for {event} ({})", keys.join(", "))
            }
            Self::HookRemoved { event } => write!(f, "remove the hook for {event}"),
            Self::StatusLineAdded => f.write_str("add the status line"),
            Self::StatusLineUpdated => f.write_str("update the status line"),
            Self::StatusLineRemoved => f.write_str("remove the status line"),
            Self::Restored => f.write_str("restore the file to what it was before, byte for byte"),
            Self::FileRemoved => f.write_str("remove the file: it was made by the installation"),
        }
    }
}

/// Something that was left as it was on purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// There is a status line, and it is not ours.
    StatusLineTaken {
        /// What it runs, if it says so.
        command: Option<String>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StatusLineTaken { command: Some(command) } => {
                write!(f, "the status line is `{}`, and stays so", command.escape_debug())
            }
            Self::StatusLineTaken { command: None } => {
                f.write_str("there is another status line, and it stays")
            }
        }
    }
}
