//! What the whole code uses.

use super::{has, kits, queries};

/// What the code uses anywhere. Searched once, because there can be many statements.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(super) struct Uses {
    /// A module that starts programs.
    pub(super) programs: bool,
    /// The calls that start programs but are named like those for databases.
    pub(super) starts: Vec<String>,
    /// A module with a function for each program.
    pub(super) functions: bool,
    /// Modules for archives.
    pub(super) archives: bool,
    /// The environment, imported under another name.
    pub(super) renamed_environment: bool,
    /// Libraries of clouds, clusters and forges.
    pub(super) clouds: bool,
    /// A library for git.
    pub(super) git: bool,
}

impl Uses {
    pub(super) fn of(bare: &str, code: &str) -> Self {
        Self {
            programs: has(bare, &["subprocess", "child_process", "popen"]),
            starts: queries::starts(code),
            functions: has(bare, &["import sh;", "import sh\n", "from sh import"]),
            archives: has(bare, &["tarfile", "zipfile", "make_archive"]),
            renamed_environment: bare.contains("import environ as "),
            clouds: has(bare, kits::CLOUDS) || has(code, kits::MODULES),
            git: bare.contains("simplegit") || has(code, &["'simple-git'", "\"simple-git\""]),
        }
    }
}
