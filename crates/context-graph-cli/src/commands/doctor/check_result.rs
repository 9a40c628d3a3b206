//! The result of a check.

use std::path::PathBuf;

use context_graph_events::agents::Agent;
use serde::Serialize;

use crate::settings_file::Scope;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// It works, but the user should know something.
    Warning,
    /// It does not do its job.
    Broken,
}

/// A fix that is safe to make without asking: it removes nothing and can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fix {
    /// Update our hooks in these settings.
    Install(Scope),
    /// Update our hooks in another agent's file.
    Agent(Agent, Scope),
    /// Make a file or folder private.
    Close(PathBuf),
    /// Keep the state folder out of the repository.
    Ignore(PathBuf),
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckResult {
    /// What was checked, in one word.
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    pub(crate) what: String,
    /// What to do; `None` if all is well.
    pub(crate) fix: Option<String>,
    pub(super) mend: Option<Fix>,
}

impl CheckResult {
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, what: what.into(), fix: None, mend: None }
    }

    pub(super) fn warning(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, level: Level::Warning, what: what.into(), fix: Some(fix.into()), mend: None }
    }

    pub(super) fn broken(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Broken, ..Self::warning(check, what, fix) }
    }

    /// This result, with a fix that `--fix` can make.
    pub(super) fn fixed_by(self, mend: Fix) -> Self {
        Self { mend: Some(mend), ..self }
    }
}
