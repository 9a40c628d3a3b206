//! Puts hooks into the settings of Claude Code and other coding agents, and takes them out again.
//!
//! The file belongs to the user. It is edited as text, and every byte that is not ours stays the same: order,
//! indentation, line endings, byte order mark. Invalid JSON is rejected with line and column.
//!
//! - [`Plan`] says what should be in the file; [`default_plan`] makes the default one for a version of the
//!   client.
//! - [`install`] merges a plan into a text, [`uninstall`] removes everything of ours.
//! - [`AgentClient`] does both for every other agent, each in its own file and form.
//! - [`Undo`] is the data needed to restore the exact bytes.
//! - [`diff`] shows the changes to people.
//!
//! Text in, text out: nothing here reads a file, a clock or the environment. The caller writes the file
//! atomically and keeps a backup.

mod agents;
mod change;
mod client;
mod default_plan;
mod diff;
mod error;
mod form;
mod install;
mod json;
mod missing;
mod ours;
mod plan;
mod undo;
mod uninstall;

pub use agents::{AgentClient, OwnCommand, UserFile, codex_trust};
pub use change::{Change, Edited, Note};
pub use client::{
    ClientVersion, EXEC_FORM_SINCE, NEWEST_KNOWN_CLIENT, ON_FAILURE_SINCE, UNKNOWN_EVENTS_SKIPPED_SINCE,
    known_since,
};
pub use default_plan::{PlanOptions, default_plan, left_out};
pub use diff::diff;
pub use error::{SettingsError, TextPosition, decode};
pub use form::Nesting;
pub use install::{install, install_where};
pub use missing::{Missing, missing_in};
pub use ours::{FoundHook, find_ours, find_ours_where};
pub use plan::{HookEntry, OnFailure, Plan, PlannedHook, StatusLine};
pub use undo::{Undo, UndoError};
pub use uninstall::{uninstall, uninstall_where};
