//! Walks a command in order: follows variables, folders and functions, and reports programs.
//!
//! One file, because it is one walk over the parsed command: its functions call each other and share one state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::ast::{Node, Part, Word};
use super::flow::{Flow, merge};
use super::parse::{ParseError, parse};
use super::redirect::Taint;
use crate::effects::path::PathBase;
use crate::effects::{Effects, Text, Unknown};
use crate::programs::KnownPrograms;

/// Longer commands are not parsed.
const MAX_LENGTH: usize = 256 * 1024;
/// How many commands and words one call may walk, including loops and substitutions.
const MAX_STEPS: usize = 20_000;
/// How deep scripts may contain scripts.
pub(super) const MAX_NESTING: u32 = 10;
/// How deep commands may be nested in any way. The stack can hold this many.
const MAX_DEPTH: u32 = 96;
/// How many wrappers may surround a program.
const MAX_WRAPPING: u32 = 24;
/// How many values a variable can have after branches.
pub(super) const MAX_VALUES: usize = 4;

/// Functions that the shell calls itself.
const CALLED_BY_THE_SHELL: &[&str] = &[
    "command_not_found_handle",
    "command_not_found_handler",
    "TRAPEXIT",
    "TRAPDEBUG",
    "TRAPZERR",
    "precmd",
    "preexec",
    "chpwd",
];

#[derive(Clone)]
pub(super) struct Frame {
    pub(super) vars: BTreeMap<String, Vec<Text>>,
    /// The variables that this command exported.
    pub(super) exported: BTreeSet<String>,
    pub(super) arrays: BTreeMap<String, Vec<Text>>,
    pub(super) cwd: Text,
    /// The folder before the last change.
    pub(super) came_from: Option<Text>,
    /// The folders that `popd` goes back to.
    pub(super) left: Vec<Text>,
    pub(super) positional: Vec<Text>,
}

/// The shell's state while a command is walked.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Shell<'a> {
    pub(crate) base: PathBase<'a>,
    pub(crate) project: &'a str,
    /// The tables of known programs.
    pub(crate) known: KnownPrograms<'a>,
    pub(crate) out: Effects,
    pub(super) frame: Frame,
    pub(super) functions: BTreeMap<String, Rc<Node>>,
    /// Other names of commands, from `alias` and `hash -p`.
    pub(super) aliases: BTreeMap<String, String>,
    /// The functions and aliases that are running.
    pub(super) calls: Vec<String>,
    /// Content of files that this command wrote, as far as it is known.
    pub(crate) written: BTreeMap<String, String>,
    /// Written files whose whole content is known.
    pub(super) whole: BTreeSet<String>,
    pub(super) links: Vec<(String, Text)>,
    /// Files that this command copies: destination and origin.
    pub(crate) copies: Vec<(String, String)>,
    /// Files that this command moves: destination and origin.
    pub(crate) moves: Vec<(String, String)>,
    /// Files whose content this command fetches or decodes.
    pub(super) tainted: Vec<(String, Taint)>,
    /// An archive from the network was unpacked.
    pub(crate) unpacked: bool,
    /// Something was fetched from a host that is not a known source of code.
    pub(crate) strange: bool,
    /// Something was fetched without encryption, or from an address instead of a host name.
    pub(crate) exposed: bool,
    /// Folders with clones from hosts that are not a known source of code.
    pub(crate) foreign: Vec<String>,
    /// Remotes that this command points to another address.
    pub(crate) remotes: Vec<String>,
    /// Depth of commands on another machine or in a container, where paths are not local.
    pub(crate) remote: u32,
    /// Local folders that a container mounts, by their path inside it.
    pub(crate) mounts: Vec<(String, Text)>,
    /// The output of process substitutions, by number.
    pub(crate) descriptors: Vec<Flow>,
    /// What reading from open files returns, by descriptor.
    pub(crate) opened: Vec<(u32, Flow)>,
    /// Files open for writing, by descriptor.
    pub(super) outputs: Vec<(u32, Text)>,
    /// Variables that refer to others, by `declare -n`.
    pub(super) references: BTreeMap<String, String>,
    /// Variables whose letters become all lower or all upper case.
    pub(super) cases: BTreeMap<String, bool>,
    /// Values of variables before the current functions made them local.
    pub(super) locals: Vec<BTreeMap<String, Option<Vec<Text>>>>,
    /// The inherited environment was cleared: only variables of this command are set.
    pub(crate) bare: bool,
    /// The commands of process substitutions, by number. They are used when something is written to them.
    pub(super) substitutions: Vec<Rc<Node>>,
    /// Which of a variable's possible values is used now.
    pub(crate) choice: usize,
    pub(crate) most_choices: usize,
    pub(crate) split_at: Option<String>,
    /// Stars also match hidden names.
    pub(crate) stars_reach_hidden: bool,
    /// The rest is being walked a second time, as if the `cd` had failed.
    pub(super) stays: bool,
    /// Whether `cd ..` leads up from a link's target, as with `set -P`.
    pub(crate) goes_by_links: bool,
    steps: usize,
    pub(super) nesting: u32,
    wrapping: u32,
    depth: u32,
}

impl<'a> Shell<'a> {
    pub(crate) fn new(base: PathBase<'a>, project: &'a str, cwd: &str, known: KnownPrograms<'a>) -> Self {
        let frame = Frame {
            vars: BTreeMap::new(),
            exported: BTreeSet::new(),
            arrays: BTreeMap::new(),
            cwd: Text::lit(cwd),
            came_from: None,
            left: Vec::new(),
            positional: Vec::new(),
        };
        Self {
            base,
            project,
            known,
            out: Effects::default(),
            frame,
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            calls: Vec::new(),
            written: BTreeMap::new(),
            whole: BTreeSet::new(),
            links: Vec::new(),
            copies: Vec::new(),
            moves: Vec::new(),
            tainted: Vec::new(),
            unpacked: false,
            strange: false,
            exposed: false,
            foreign: Vec::new(),
            remotes: Vec::new(),
            remote: 0,
            mounts: Vec::new(),
            descriptors: Vec::new(),
            opened: Vec::new(),
            outputs: Vec::new(),
            references: BTreeMap::new(),
            cases: BTreeMap::new(),
            locals: Vec::new(),
            bare: false,
            substitutions: Vec::new(),
            choice: 0,
            most_choices: 1,
            split_at: None,
            stars_reach_hidden: false,
            goes_by_links: false,
            stays: false,
            steps: 0,
            nesting: 0,
            wrapping: 0,
            depth: 0,
        }
    }

    /// Walks source text as a script.
    pub(crate) fn script(&mut self, source: &str) -> Flow {
        self.script_fed(source, &Flow::default())
    }

    /// Walks source text as a script with this standard input.
    pub(crate) fn script_fed(&mut self, source: &str, stdin: &Flow) -> Flow {
        if source.len() > MAX_LENGTH || self.nesting >= MAX_NESTING {
            self.unknown(Unknown::TooLarge);
            return Flow::default();
        }
        self.nesting += 1;
        let flow = match parse(source) {
            Ok(node) => self.node(&node, stdin),
            Err(ParseError::Syntax | ParseError::Refused) => {
                self.unknown(Unknown::Unreadable);
                Flow::default()
            }
            Err(ParseError::Depth) => {
                self.unknown(Unknown::TooLarge);
                Flow::default()
            }
        };
        self.nesting -= 1;
        flow
    }

    /// Walks a script with its own positional parameters, as `sh -c` and functions have.
    pub(crate) fn script_with(&mut self, source: &str, positional: Vec<Text>, stdin: &Flow) -> Flow {
        let saved = self.frame.clone();
        self.frame.positional = positional;
        let flow = self.script_fed(source, stdin);
        self.frame = saved;
        flow
    }

    /// Walks something with these additional variables set.
    pub(crate) fn with_variables(
        &mut self,
        assigns: &[(String, Text)],
        walk: impl FnOnce(&mut Self) -> Flow,
    ) -> Flow {
        if assigns.is_empty() {
            return walk(self);
        }
        let saved = self.frame.vars.clone();
        for (name, value) in assigns {
            self.set(name, value.clone());
        }
        let flow = walk(self);
        self.frame.vars = saved;
        flow
    }

    /// Walks something with these words as positional parameters.
    pub(crate) fn with_words(&mut self, words: Vec<Text>, walk: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let saved = std::mem::replace(&mut self.frame.positional, words);
        let flow = walk(self);
        self.frame.positional = saved;
        flow
    }

    /// Enters one more wrapper; false if there are too many.
    pub(crate) fn deeper(&mut self) -> bool {
        if self.wrapping >= MAX_WRAPPING {
            self.unknown(Unknown::TooLarge);
            return false;
        }
        self.wrapping += 1;
        true
    }

    pub(crate) fn shallower(&mut self) {
        self.wrapping = self.wrapping.saturating_sub(1);
    }

    /// Takes from the call's work budget; false if nothing is left.
    pub(crate) fn charge(&mut self, work: usize) -> bool {
        self.steps = self.steps.saturating_add(work);
        if self.steps > MAX_STEPS {
            self.unknown(Unknown::TooLarge);
            return false;
        }
        true
    }

    /// Limits the remaining work.
    pub(crate) fn leave_work(&mut self, work: usize) {
        self.steps = MAX_STEPS.saturating_sub(work);
    }

    pub(super) fn node(&mut self, node: &Node, stdin: &Flow) -> Flow {
        if self.depth >= MAX_DEPTH {
            self.unknown(Unknown::TooLarge);
            return Flow::default();
        }
        if !self.charge(1) {
            return Flow::default();
        }
        self.depth += 1;
        let flow = self.walk(node, stdin);
        self.depth -= 1;
        flow
    }

    fn walk(&mut self, node: &Node, stdin: &Flow) -> Flow {
        match node {
            Node::Simple(simple) => self.simple(simple, stdin),
            Node::Pipe(stages) => self.pipe(stages, stdin),
            Node::Seq(items) => self.sequence(items, stdin),
            Node::Maybe(inner) => {
                let before = self.frame.vars.clone();
                let flow = self.node(inner, stdin);
                self.keep_alternatives(&before);
                flow
            }
            Node::Background(inner) => {
                if self.starts_copies(std::slice::from_ref(inner)) {
                    self.out.fork_bomb = true;
                }
                // It runs in a separate shell.
                let saved = self.frame.clone();
                let flow = self.node(inner, stdin);
                self.frame = saved;
                flow
            }
            Node::Subshell(inner, redirects) => {
                let saved = self.frame.clone();
                let input = self.redirected(redirects, stdin);
                let mut flow = self.node(inner, &input);
                self.redirect_out(redirects, &mut flow, ">");
                self.frame = saved;
                flow
            }
            Node::Group(inner, redirects) => {
                let input = self.redirected(redirects, stdin);
                let mut flow = self.node(inner, &input);
                self.redirect_out(redirects, &mut flow, ">");
                flow
            }
            Node::Branches(branches) => {
                let mut merged = Flow::default();
                for branch in branches {
                    let before = self.frame.vars.clone();
                    merged = merge(merged, self.node(branch, stdin));
                    self.keep_alternatives(&before);
                }
                merged
            }
            Node::For { name, words, body, redirects } => {
                let values = match words {
                    Some(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
                    None => self.frame.positional.get(1..).unwrap_or_default().to_vec(),
                };
                let input = self.redirected(redirects, stdin);
                let mut merged = self.turns(name, values, body, &input);
                self.redirect_out(redirects, &mut merged, ">");
                merged
            }
            Node::Endless(inner) => {
                self.out.fork_bomb |= super::loops::piles_up(inner);
                self.node(inner, stdin)
            }
            Node::Function { name, body } => {
                self.functions.insert(name.clone(), Rc::clone(body));
                // The shell calls these by itself.
                if CALLED_BY_THE_SHELL.contains(&name.as_str()) {
                    self.process(body, &Flow::default());
                }
                Flow::default()
            }
            Node::Words(words) => {
                self.numbers(words);
                Flow::default()
            }
        }
    }

    /// Words in arithmetic: subscripts in them are evaluated, and the whole value of a variable too.
    fn numbers(&mut self, words: &[Word]) {
        for field in words.iter().flat_map(|word| self.fields(word)).collect::<Vec<_>>() {
            self.subscript(&field);
        }
        for word in words.iter().filter(|word| word.len() == 1) {
            match &word[0] {
                Part::Param { .. } => {
                    let value = self.joined(word);
                    self.subscript(&value);
                }
                Part::Bare(sum) | Part::Quoted(sum) => self.counted(sum),
                _ => {}
            }
        }
    }

    /// Walks commands one after the other.
    fn sequence(&mut self, items: &[Node], stdin: &Flow) -> Flow {
        let mut merged = Flow::default();
        for (index, item) in items.iter().enumerate() {
            let rest = &items[index + 1..];
            let before = (!rest.is_empty()).then(|| (self.frame.cwd.clone(), self.frame.positional.clone()));
            let flow = self.node(item, stdin);
            merged = if index == 0 { flow } else { merge(merged, flow) };
            if let Some(before) = before {
                self.stay(item, before, rest);
            }
        }
        merged
    }

    fn pipe(&mut self, stages: &[Node], stdin: &Flow) -> Flow {
        if self.starts_copies(stages) {
            self.out.fork_bomb = true;
        }
        let mut flow = stdin.clone();
        for stage in stages {
            let saved = self.frame.clone();
            flow = self.node(stage, &flow);
            flow.piped = true;
            self.frame = saved;
        }
        flow
    }

    /// Whether the current function starts itself again in another process.
    fn starts_copies(&self, stages: &[Node]) -> bool {
        let calls_itself = |stage: &Node| match stage {
            Node::Simple(simple) => simple
                .words
                .first()
                .and_then(|word| super::word::plain_text(word))
                .is_some_and(|name| self.calls.contains(&name)),
            _ => false,
        };
        stages.iter().any(calls_itself)
    }

    /// The text of a substitution. Its effects are noted too.
    pub(super) fn output_of(&mut self, body: &Node) -> Text {
        let saved = self.frame.clone();
        let (choice, most) = (self.choice, self.most_choices);
        let flow = self.node(body, &Flow::default());
        (self.choice, self.most_choices) = (choice, most.max(self.most_choices));
        self.frame = saved;
        flow.into_value()
    }

    /// A process substitution: notes its effects and returns its output.
    pub(super) fn process(&mut self, body: &Node, stdin: &Flow) -> Flow {
        let saved = self.frame.clone();
        let flow = self.node(body, stdin);
        self.frame = saved;
        flow
    }

    /// Walks something without the variables that were set here.
    pub(crate) fn without_variables(&mut self, walk: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let vars = std::mem::take(&mut self.frame.vars);
        let bare = std::mem::replace(&mut self.bare, true);
        let flow = walk(self);
        self.bare = bare;
        self.frame.vars = vars;
        flow
    }

    /// Walks a command that runs on another machine, with a fresh state.
    pub(crate) fn elsewhere(&mut self, walk: impl FnOnce(&mut Self)) {
        self.remote += 1;
        let saved = self.frame.clone();
        walk(self);
        self.frame = saved;
        self.remote -= 1;
    }
}
