//! The parsed form of a shell command, for the evaluator. Plain data, no behaviour.

use std::cell::OnceCell;
use std::rc::Rc;

/// One piece of a command line.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A program or builtin with its words, assignments and redirections.
    Simple(Simple),
    /// Stages joined by `|`.
    Pipe(Vec<Node>),
    /// One after the other in the same shell.
    Seq(Vec<Node>),
    /// The right side of `&&` or `||`: it may not run.
    Maybe(Box<Node>),
    /// Ended by `&`.
    Background(Box<Node>),
    /// `( … )`.
    Subshell(Box<Node>, Vec<Redirect>),
    /// `{ … }`, and every compound command that is walked as a sequence.
    Group(Box<Node>, Vec<Redirect>),
    /// Branches. Only one of them runs.
    Branches(Vec<Node>),
    /// `for name in words; do body; done`. Without words it loops over the positional parameters.
    For { name: String, words: Option<Vec<Word>>, body: Box<Node>, redirects: Vec<Redirect> },
    /// A loop whose condition is always true.
    Endless(Box<Node>),
    /// `name() body`.
    Function { name: String, body: Rc<Node> },
    /// Words that are expanded but name no command, as in `[[ … ]]` and `(( … ))`.
    Words(Vec<Word>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    pub(crate) assigns: Vec<Assign>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub(crate) name: String,
    /// The text in the brackets of `name[index]=`, or of an array's items: `name=([index]=…)`.
    pub(crate) indexes: Vec<String>,
    pub(crate) append: bool,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    One(Word),
    Array(Vec<Word>),
}

#[derive(Debug, Clone)]
pub(crate) struct Redirect {
    pub(crate) fd: Option<u32>,
    /// The variable that gets the descriptor's number, as in `{name}<file`.
    pub(crate) name: Option<String>,
    pub(crate) kind: RedirectKind,
}

#[derive(Debug, Clone)]
pub(crate) enum RedirectKind {
    /// `<`
    Read(Word),
    /// `>`, `>|`, `&>`
    Write(Word),
    /// `>>`, `&>>`
    Append(Word),
    /// `<>`
    ReadWrite(Word),
    /// `>&` and `<&`: a descriptor, or a file in bash's older form of `&>`.
    Duplicate(Word),
    /// `<<` with its body, which is set when the line ends.
    HereDoc(Rc<OnceCell<Word>>),
    /// `<<<`
    HereString(Word),
}

/// A word is a list of parts.
pub(crate) type Word = Vec<Part>;

#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Unquoted text: globs, braces and `~` are special.
    Bare(String),
    /// Quoted text: nothing is special.
    Quoted(String),
    /// `$name` and `${name…}`.
    Param { param: Box<Param>, quoted: bool },
    /// `$( … )` and backticks.
    Output { body: Rc<Node>, quoted: bool },
    /// `$(( … ))`: a number, whose text may contain substitutions.
    Arithmetic(Word),
    /// `<( … )` and `>( … )`.
    Process(Rc<Node>),
    /// An extended glob such as `!(x)`: any name.
    AnyName,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) indirect: bool,
    pub(crate) length: bool,
    pub(crate) index: Option<Word>,
    pub(crate) op: String,
    pub(crate) arg: Word,
    /// Written with braces: the following characters are not part of its name.
    pub(crate) braced: bool,
    /// The variable's value is expanded again.
    pub(crate) evaluated: bool,
}
