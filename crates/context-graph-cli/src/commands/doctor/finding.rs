//! The result of a check.

use std::path::PathBuf;

use serde::Serialize;

use crate::settings_file::Scope;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// It works, and there is something to know.
    Warning,
    /// It does not do what it is there for.
    Broken,
}

/// A fix that is safe to make unasked: it takes nothing away and can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mend {
    /// Bring our hooks in these settings up to date.
    Install(Scope),
    /// Keep others out of a file or folder.
    Close(PathBuf),
    /// Keep the state folder out of the repository.
    Ignore(PathBuf),
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What was looked at, in a word.
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    pub(crate) what: String,
    /// What to do about it; `None` if all is well.
    pub(crate) fix: Option<String>,
    pub(super) mend: Option<Mend>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, what: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, what: what.into(), fix: None, mend: None }
    }

    pub(super) fn warning(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, level: Level::Warning, what: what.into(), fix: Some(fix.into()), mend: None }
    }

    pub(super) fn broken(check: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { level: Level::Broken, ..Self::warning(check, what, fix) }
    }

    /// The same, with a fix that `--fix` makes.
    pub(super) fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }
}
