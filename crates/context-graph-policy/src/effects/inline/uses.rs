//! What code makes use of as a whole, looked for once.

use super::{has, kits};

/// What code makes use of anywhere: looked for once, since there can be many statements.
#[expect(clippy::struct_excessive_bools, reason = "each is a thing of its own, and any of them can hold")]
pub(super) struct Uses {
    /// A module that starts programs.
    pub(super) programs: bool,
    /// One that has a function for each program.
    pub(super) functions: bool,
    /// Archives.
    pub(super) archives: bool,
    /// The environment under another name.
    pub(super) renamed_environment: bool,
    /// Libraries of clouds, clusters and forges.
    pub(super) clouds: bool,
    /// One for git.
    pub(super) git: bool,
}

impl Uses {
    pub(super) fn of(bare: &str, code: &str) -> Self {
        Self {
            programs: has(bare, &["subprocess", "child_process", "popen"]),
            functions: has(bare, &["import sh;", "import sh\n", "from sh import"]),
            archives: has(bare, &["tarfile", "zipfile", "make_archive"]),
            renamed_environment: bare.contains("import environ as "),
            clouds: has(bare, kits::CLOUDS) || has(code, kits::MODULES),
            git: bare.contains("simplegit"),
        }
    }
}
