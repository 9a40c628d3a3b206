//! What programs are known to do, as data: one row a program in `programs/*.toml`, made static by the build, and the rows
//! that a policy file adds. One reader takes arguments apart by them.

pub(crate) mod hosts;
mod read;
pub mod row;
pub mod spelling;
mod terms;

use std::collections::BTreeMap;

pub use read::{Given, Invocation, read};
pub use row::{Role, Row};

use crate::effects::Run;

mod built {
    //! The tables in `programs/`.
    use std::borrow::Cow;

    use super::row::{Dialect, Form, Operand, Operands, Opt, Reach, Role, Row, Stop, Str, Term, Terms, Want};

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

pub(crate) mod lists {
    //! Lists of programs and of words of theirs, from `programs/lists/`.
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}

/// All rows that come along.
pub fn rows() -> &'static [Row] {
    built::ROWS
}

/// The row of a program that comes along.
pub fn known(name: &str) -> Option<&'static Row> {
    let name = unversioned(name);
    let at = built::NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    built::ROWS.get(usize::from(built::NAMES[at].1))
}

/// Programs of which there are many under one name, each with its own ending.
const FAMILIES: &[&str] = &[
    "mkfs",
    "newfs",
    "fsck",
    "ld-linux",
    "ld-musl",
    "docker-credential",
    "git-credential",
    "remove-az",
    "stop-az",
    "get-",
    "write-",
    "select-",
    "measure-",
];

/// `python3.12`, `mkfs.ext4`: the version or kind behind a name is no part of it.
fn unversioned(name: &str) -> &str {
    let is_known = |name: &str| built::NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok();
    if is_known(name) {
        return name;
    }
    let family = FAMILIES.iter().find(|family| name.starts_with(**family));
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    family.copied().unwrap_or(if is_known(bare) { bare } else { name })
}

impl Row {
    /// The first key that says something else than what is not to be done unasked.
    pub(crate) fn said_besides_stops(&self) -> Option<&'static str> {
        let said = [
            ("also", !self.also.is_empty()),
            ("dialect", self.dialect.is_some()),
            ("options", !self.options.is_empty()),
            ("operands", self.operands.is_some()),
            ("forms", !self.forms.is_empty()),
            ("early", self.early),
            ("bundle", self.bundle),
            ("sends", self.sends),
            ("fold", self.fold),
            ("recursive", !self.recursive.is_empty()),
            ("quiet", !self.quiet.is_empty()),
            ("variables", !self.variables.is_empty()),
            ("reach", self.reach.is_some()),
            ("sub", !self.sub.is_empty()),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }
}

/// The programs that are known: those that come along, and those that a policy file teaches.
#[derive(Debug, Clone, Copy)]
pub struct Known<'p> {
    taught: &'p BTreeMap<String, Row>,
}

impl<'p> Known<'p> {
    /// With what a policy file adds.
    pub fn with(taught: &'p BTreeMap<String, Row>) -> Self {
        Self { taught }
    }

    /// The row of a program. What comes along goes before: a policy file adds to it, see [`Self::added`].
    pub fn row(&self, name: &str) -> Option<&'p Row> {
        known(name).or_else(|| self.added(name))
    }

    /// The row that a policy file has for a program.
    pub fn added(&self, name: &str) -> Option<&'p Row> {
        if self.taught.is_empty() {
            return None;
        }
        let other = || self.taught.values().find(|row| row.also.iter().any(|also| also == name));
        self.taught.get(name).or_else(other)
    }

    /// A run as its program reads it.
    pub fn read<'r>(&self, run: &'r Run) -> Invocation<'r>
    where
        'p: 'r,
    {
        read(run, self.row(&run.name))
    }
}
