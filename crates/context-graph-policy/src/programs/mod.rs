//! Descriptions of programs as data: one row per program in `programs/*.toml`, which the build makes static,
//! plus the rows of a policy file. One parser splits arguments by them.

pub(crate) mod hosts;
mod read;
pub mod row;
pub mod spelling;
mod terms;

use std::collections::BTreeMap;

pub use read::{Given, Invocation, read};
pub use row::{Role, Row};
pub(crate) use terms::fits_any;

use row::Want;

use crate::effects::Run;

mod built {
    //! The tables in `programs/`.
    use std::borrow::Cow;

    use super::row::{
        Dialect, Form, Operand, Operands, Opt, ProgramStop, Reach, Role, Row, Str, Term, Terms, Want,
    };

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

pub(crate) mod lists {
    //! Lists of programs and of their words, from `programs/lists/`.
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}

/// All built-in rows.
pub fn rows() -> &'static [Row] {
    built::ROWS
}

/// The built-in row of a program.
pub fn known(name: &str) -> Option<&'static Row> {
    let name = unversioned(name);
    let at = built::NAMES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    built::ROWS.get(usize::from(built::NAMES[at].1))
}

/// Families of programs with a common name and different endings.
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

/// The name without version or kind: `python3.12`, `mkfs.ext4`.
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
    /// The names, as patterns, of the variables that its stops look at.
    pub(crate) fn watched_variables(&self) -> Vec<&str> {
        let terms = self.stops.iter().flat_map(|stop| stop.when.iter().chain(stop.unless.iter()));
        let own = terms.flat_map(|terms| terms.0.iter()).filter_map(|term| match &term.want {
            Want::Variable(name, _) => Some(name.as_ref()),
            _ => None,
        });
        own.chain(self.sub.iter().flat_map(Self::watched_variables)).collect()
    }

    /// The first key that is set besides `stops`.
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

/// The known programs: built-in ones, and those that a policy file describes.
#[derive(Debug, Clone, Copy)]
pub struct KnownPrograms<'p> {
    taught: &'p BTreeMap<String, Row>,
}

impl<'p> KnownPrograms<'p> {
    /// The built-in rows and those of a policy file.
    pub fn with(taught: &'p BTreeMap<String, Row>) -> Self {
        Self { taught }
    }

    /// The row of a program. Built-in rows come first; a policy file adds to them, see [`Self::added`].
    pub fn row(&self, name: &str) -> Option<&'p Row> {
        known(name).or_else(|| self.added(name))
    }

    /// The row of a policy file for a program.
    pub fn added(&self, name: &str) -> Option<&'p Row> {
        if self.taught.is_empty() {
            return None;
        }
        let other = || self.taught.values().find(|row| row.also.iter().any(|also| also == name));
        self.taught.get(name).or_else(other)
    }

    /// A run with its arguments parsed.
    pub fn read<'r>(&self, run: &'r Run) -> Invocation<'r>
    where
        'p: 'r,
    {
        read(run, self.row(&run.name))
    }
}
