//! The form of a program's description, both for the built-in tables, which the build makes static, and for
//! policy files.
//!
//! Options, operands and conditions are short texts; [`super::spelling`] parses them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Text of a table: static, or read from a policy file.
pub type Str = Cow<'static, str>;
/// A list of a table.
pub type List<T> = Cow<'static, [T]>;

/// How a program parses its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `getopt_long` and argparse: clustered letters, unambiguous prefixes of long names.
    #[default]
    Getopt,
    /// The same, but the options before a subcommand differ from those after it.
    Git,
    /// clap, cobra, yargs and similar: clustered letters, full long names.
    Clap,
    /// Go's `flag` and `openssl`: one dash or two, full names, no clusters.
    Go,
    /// One dash, any prefix, any case.
    PowerShell,
    /// A slash, any case.
    Windows,
}

/// What an operand, or an option's value, means to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing that has an effect.
    Value,
    /// Digits only: in `-0777pe` the letters that follow are options.
    Number,
    /// A file that is read and shown.
    Read,
    /// A file or a whole folder that is read.
    Gather,
    /// The same, and it is sent to another machine.
    Send,
    /// A file that is created or changed.
    Write,
    /// A folder that files are put into.
    Within,
    /// A file that is removed.
    Delete,
    /// A file or a whole folder that is removed.
    Tree,
    /// A file whose mode, owner or times change.
    Permissions,
    /// A file that is run.
    Execute,
    /// A file that is passed on; what happens to it is not known.
    Mention,
    /// A shell line.
    Shell,
    /// Code in the program's own language.
    Code,
    /// `name=value`, where the value may be a command.
    Setting,
    /// The folder that the program changes to first.
    Folder,
    /// The words from here on are a command.
    Command,
    /// The words after `--` are a command.
    After,
}

/// One kind of operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// What it is.
    pub role: Role,
    /// Whether it can be repeated.
    pub many: bool,
}

/// The operands in order. At most one kind is repeated: `value read*`, `read* write`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Operands(pub List<Operand>);

/// An option with all its names: `-o --output=write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Opt {
    /// `-o`, `--output`.
    pub names: List<Str>,
    /// The roles of its values; empty for a flag.
    pub takes: List<Role>,
    /// The value may be missing; if given, it is in the same word.
    pub optional: bool,
}

/// What a condition checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// The next word that is not an option.
    Word(Str),
    /// Any of the words after those.
    Any(Str),
    /// No more words.
    End,
    /// An option.
    Given(Str),
    /// An option with a value like this.
    With(Str, Str),
    /// Any argument as typed, options included.
    Argument(Str),
    /// A variable that is set for the program.
    Variable(Str, Str),
    /// Text in the program's standard input.
    Fed(Str),
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Whether it is negated.
    pub not: bool,
    /// What is checked.
    pub want: Want,
}

/// A condition: all its parts must hold. `state rm`, `apply --prune`, `rm ..s3://* -r`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Terms(pub List<Term>);

/// Different operands under a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// When they apply. The first form that applies counts.
    pub when: List<Terms>,
    /// The operands.
    pub operands: Operands,
}

/// Something that must be asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramStop {
    /// The rule that reports it.
    #[serde(default = "taught", skip_serializing_if = "is_taught")]
    pub rule: Str,
    /// Any of these.
    pub when: List<Terms>,
    /// None of these.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub unless: List<Terms>,
    /// The consequence: `would …`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub says: Str,
}

/// The rule for stops from a policy file.
pub const TAUGHT: &str = "programs/taught";

fn taught() -> Str {
    Cow::Borrowed(TAUGHT)
}

fn is_taught(rule: &Str) -> bool {
    rule == TAUGHT
}

fn is_empty<T: Clone>(list: &List<T>) -> bool {
    list.is_empty()
}

/// The place of the things that a program removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Only on this machine, and easily recreated.
    Local,
    /// Shared with others: destructive verbs are asked about.
    Outside,
}

/// A program, or a subcommand of one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of a row, set or not")]
pub struct Row {
    /// Its name.
    #[serde(skip)]
    pub name: Str,
    /// Where it is described, as `file:line`.
    #[serde(skip)]
    pub source: Str,
    /// Its other names.
    #[serde(skip_serializing_if = "is_empty")]
    pub also: List<Str>,
    /// How it parses its arguments; a subcommand inherits this from its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Its options. A program's options are also valid for its subcommands.
    #[serde(skip_serializing_if = "is_empty")]
    pub options: List<Opt>,
    /// Its operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operands: Option<Operands>,
    /// Different operands under a condition.
    #[serde(skip_serializing_if = "is_empty")]
    pub forms: List<Form>,
    /// Options end at the first operand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    /// The first word is a cluster of letters without a dash: `tar xzf x`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bundle: bool,
    /// Its standard input is sent to another machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sends: bool,
    /// Case is ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fold: bool,
    /// When it works on whole folders.
    #[serde(skip_serializing_if = "is_empty")]
    pub recursive: List<Terms>,
    /// When it changes nothing: `--dry-run`.
    #[serde(skip_serializing_if = "is_empty")]
    pub quiet: List<Terms>,
    /// Variables that hold options for it.
    #[serde(skip_serializing_if = "is_empty")]
    pub variables: List<Str>,
    /// The place of the things that it removes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What must be asked about.
    #[serde(skip_serializing_if = "is_empty")]
    pub stops: List<ProgramStop>,
    /// Subcommands, by their words.
    #[serde(with = "super::spelling::named", skip_serializing_if = "is_empty")]
    pub sub: List<Row>,
}
