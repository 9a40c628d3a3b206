//! The form in which programs are described: one for the tables that come along, which the build makes static, and for
//! those of a policy file.
//!
//! Options, operands and conditions are short texts; [`super::spelling`] reads them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Text of a table: part of the program, or read from a policy file.
pub type Str = Cow<'static, str>;
/// A list of a table.
pub type List<T> = Cow<'static, [T]>;

/// How a program's own parser takes its arguments apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `getopt_long` and argparse: letters in clusters, any beginning of a long name that is clear.
    #[default]
    Getopt,
    /// The same, but options before a subcommand are other ones than those behind it.
    Git,
    /// clap, cobra, yargs and their like: letters in clusters, long names in full.
    Clap,
    /// Go's `flag` and `openssl`: one dash or two, names in full, no clusters.
    Go,
    /// One dash, any beginning, any case.
    PowerShell,
    /// A slash, any case.
    Windows,
}

/// What an operand, or the value of an option, is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing that touches anything.
    Value,
    /// Digits, which end where they end: in `-0777pe` the letters go on.
    Number,
    /// A file that is read and shown.
    Read,
    /// A file, or a folder with all that is in it, that is read.
    Gather,
    /// The same, and it goes to another machine.
    Send,
    /// A file that is created or changed.
    Write,
    /// A folder that files are put into.
    Within,
    /// A file that is removed.
    Delete,
    /// A file, or a folder with all that is in it, that is removed.
    Tree,
    /// A file whose mode, owner or times change.
    Permissions,
    /// A file that is run.
    Execute,
    /// A file that is handed over; it cannot be seen what becomes of it.
    Mention,
    /// A line for the shell.
    Shell,
    /// Code in the program's own language.
    Code,
    /// `name=value`, where the value may be a command.
    Setting,
    /// The folder that the program goes to first.
    Folder,
    /// From here on, the words are a command.
    Command,
    /// Behind `--`, the words are a command.
    After,
}

/// One kind of operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// What it is.
    pub role: Role,
    /// Any number of them.
    pub many: bool,
}

/// The operands in their order, at most one kind of which is repeated: `value read*`, `read* write`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Operands(pub List<Operand>);

/// An option with all its names: `-o --output=write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Opt {
    /// `-o`, `--output`.
    pub names: List<Str>,
    /// What its values are; none for a flag.
    pub takes: List<Role>,
    /// The value may be missing, and then stands in the same word.
    pub optional: bool,
}

/// What a condition looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// The next word that is no option.
    Word(Str),
    /// Any of the words behind those.
    Any(Str),
    /// There are no more of them.
    End,
    /// An option.
    Given(Str),
    /// An option with a value like this.
    With(Str, Str),
    /// Any argument as it stands.
    Argument(Str),
    /// A variable that is set for the program.
    Variable(Str, Str),
    /// Text in what the program is fed.
    Fed(Str),
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// It must not be so.
    pub not: bool,
    /// What is looked at.
    pub want: Want,
}

/// A condition: all its parts hold. `state rm`, `apply --prune`, `rm ..s3://* -r`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Terms(pub List<Term>);

/// Other operands than the usual ones, under a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// When they hold. The first form that does counts.
    pub when: List<Terms>,
    /// Which they are.
    pub operands: Operands,
}

/// What is not done unasked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The rule that it goes by.
    #[serde(default = "taught", skip_serializing_if = "is_taught")]
    pub rule: Str,
    /// Any of these.
    pub when: List<Terms>,
    /// None of these.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub unless: List<Terms>,
    /// What comes of it: `would …`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub says: Str,
}

/// The rule of what a policy file teaches.
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

/// Where what a program removes can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// On this machine only, and made again without trouble.
    Local,
    /// With others: verbs that destroy ask.
    Outside,
}

/// A program, or a subcommand of one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of a table, said or not")]
pub struct Row {
    /// Its name.
    #[serde(skip)]
    pub name: Str,
    /// Where it is described, as `file:line`.
    #[serde(skip)]
    pub source: Str,
    /// Other names of it.
    #[serde(skip_serializing_if = "is_empty")]
    pub also: List<Str>,
    /// How it takes its arguments apart; a subcommand has its program's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Its options. Those of a program hold for its subcommands too.
    #[serde(skip_serializing_if = "is_empty")]
    pub options: List<Opt>,
    /// Its operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operands: Option<Operands>,
    /// Other operands under a condition.
    #[serde(skip_serializing_if = "is_empty")]
    pub forms: List<Form>,
    /// Options end at the first operand.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    /// The first word is a cluster of letters without a dash: `tar xzf x`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bundle: bool,
    /// What it is fed goes to another machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sends: bool,
    /// Upper and lower case are the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fold: bool,
    /// When folders go with all they hold.
    #[serde(skip_serializing_if = "is_empty")]
    pub recursive: List<Terms>,
    /// When nothing is changed: `--dry-run`.
    #[serde(skip_serializing_if = "is_empty")]
    pub quiet: List<Terms>,
    /// Variables that hold options of it.
    #[serde(skip_serializing_if = "is_empty")]
    pub variables: List<Str>,
    /// Where what it removes can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// What is not done unasked.
    #[serde(skip_serializing_if = "is_empty")]
    pub stops: List<Stop>,
    /// Subcommands, by their words.
    #[serde(with = "super::spelling::named", skip_serializing_if = "is_empty")]
    pub sub: List<Row>,
}
