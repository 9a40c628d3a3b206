//! Parses a program's arguments as the program itself would.

use super::row::{Dialect, Operand, Opt, Role, Row};
use crate::effects::{Run, Text};

/// An option on the command line.
#[derive(Debug, Clone)]
pub struct Given<'t> {
    /// The option, if the table knows it.
    pub option: Option<&'t Opt>,
    /// Its full name, with dashes.
    pub name: String,
    /// Its values.
    pub values: Vec<Text>,
}

impl Given<'_> {
    /// Whether this is the option of that name.
    pub fn is(&self, name: &str) -> bool {
        match self.option {
            Some(option) => option.names.iter().any(|known| known == name),
            None => self.name == name,
        }
    }
}

/// A program's parsed arguments.
#[derive(Debug, Clone)]
pub struct Invocation<'t> {
    /// The run itself.
    pub run: &'t Run,
    /// Its row and those of its subcommands, outermost first; empty for an undescribed program.
    pub rows: Vec<&'t Row>,
    /// The options, in order.
    pub given: Vec<Given<'t>>,
    /// The words that are not options, including subcommands.
    pub words: Vec<&'t Text>,
    /// How many words are before `--`.
    pub dashes: Option<usize>,
    /// How many words form the subcommand.
    pub depth: usize,
    /// Where the arguments contain another command, its position.
    pub rest: Option<usize>,
}

/// Parses a run by its row.
pub fn read<'t>(run: &'t Run, row: Option<&'t Row>) -> Invocation<'t> {
    let call = Invocation {
        run,
        rows: row.into_iter().collect(),
        given: Vec::new(),
        words: Vec::new(),
        dashes: None,
        depth: 0,
        rest: None,
    };
    let mut reader = Reader {
        dialect: row.and_then(|row| row.dialect).unwrap_or_default(),
        described: row.is_some(),
        call,
        at: 0,
        ended: false,
    };
    reader.walk();
    reader.call
}

struct Reader<'t> {
    dialect: Dialect,
    described: bool,
    call: Invocation<'t>,
    at: usize,
    ended: bool,
}

impl<'t> Reader<'t> {
    fn args(&self) -> &'t [Text] {
        &self.call.run.args
    }

    fn walk(&mut self) {
        if self.call.rows.first().is_some_and(|row| row.bundle) {
            self.bundle();
        }
        while let Some(arg) = self.args().get(self.at) {
            let text = arg.prefix();
            if !self.ended && text == "--" && arg.literal().is_some() && self.dialect != Dialect::Windows {
                self.at += 1;
                self.ended = true;
                self.call.dashes = Some(self.call.words.len());
                if self.takes(Role::After) {
                    self.call.rest = Some(self.at);
                    return;
                }
            } else if !self.ended && self.is_option(text) {
                self.at += 1;
                self.option(arg, text);
                if self.begins_command() {
                    self.call.rest = Some(self.at);
                    return;
                }
            } else if self.word(arg) {
                return;
            }
        }
    }

    fn is_option(&self, text: &str) -> bool {
        match self.dialect {
            Dialect::Windows => text.len() > 1 && text.starts_with('/') && !text[1..].contains('/'),
            _ => text.len() > 1 && (text.starts_with('-') || text.starts_with('+') && self.has_plus()),
        }
    }

    /// Whether a command follows the last option: `env -S 'rm -rf' /x`.
    fn begins_command(&self) -> bool {
        let last = self.call.given.last().and_then(|given| given.option);
        last.is_some_and(|option| option.takes.contains(&Role::Command))
    }

    /// Whether options of this program can start with a plus, as those of a shell.
    fn has_plus(&self) -> bool {
        self.options().any(|option| option.names.iter().any(|name| name.starts_with('+')))
    }

    /// Handles a word that is not an option; true if another command starts with it.
    fn word(&mut self, arg: &'t Text) -> bool {
        let call = &mut self.call;
        let sub = (call.depth == call.words.len()).then(|| call.subcommand(arg)).flatten();
        if let Some(sub) = sub {
            call.rows.push(sub);
            call.words.push(arg);
            call.depth += 1;
            self.at += 1;
            return false;
        }
        let at = call.words.len() - call.depth;
        if call.kinds().get(at).is_some_and(|kind| kind.role == Role::Command) {
            let dashes = self.ended && arg.literal() == Some("--");
            call.rest = Some(self.at + usize::from(dashes));
            return true;
        }
        call.words.push(arg);
        self.at += 1;
        // A group of subcommands is not an operand, even if the table does not describe them.
        self.ended |= call.rows.last().is_some_and(|row| row.early);
        false
    }

    fn takes(&self, role: Role) -> bool {
        self.call.kinds().iter().any(|kind| kind.role == role)
    }

    /// The option of this name, from the innermost subcommand or its program.
    fn find(&self, name: &str) -> Option<&'t Opt> {
        let fold = matches!(self.dialect, Dialect::PowerShell | Dialect::Windows);
        let same = |known: &str| if fold { known.eq_ignore_ascii_case(name) } else { known == name };
        self.options().find(|option| option.names.iter().any(|known| same(known)))
    }

    /// The options that are valid here, those of the innermost subcommand first.
    fn options(&self) -> impl Iterator<Item = &'t Opt> + use<'t, '_> {
        let own = self.dialect == Dialect::Git && !self.call.words.is_empty();
        let rows = &self.call.rows[usize::from(own).min(self.call.rows.len())..];
        rows.iter().rev().flat_map(|row| row.options.iter())
    }

    /// The option for a full name or a prefix of it.
    fn find_long(&self, name: &str) -> Option<&'t Opt> {
        if let Some(option) = self.find(name) {
            return Some(option);
        }
        match self.dialect {
            // One dash or two mean the same.
            Dialect::Go => {
                let other = match name.strip_prefix("--") {
                    Some(bare) => format!("-{bare}"),
                    None => format!("-{name}"),
                };
                self.find(&other)
            }
            Dialect::Getopt | Dialect::Git if name.len() > 2 => self.beginning(name, false),
            Dialect::PowerShell if name.len() > 1 => self.beginning(name, true),
            _ => None,
        }
    }

    fn beginning(&self, name: &str, fold: bool) -> Option<&'t Opt> {
        let begins = |known: &str| {
            known.len() > name.len()
                && known.get(..name.len()).is_some_and(|head| {
                    if fold {
                        head.eq_ignore_ascii_case(name)
                    } else {
                        head == name && known.starts_with("--")
                    }
                })
        };
        self.options().find(|option| option.names.iter().any(|known| begins(known)))
    }

    fn option(&mut self, arg: &'t Text, text: &str) {
        let clusters = matches!(self.dialect, Dialect::Getopt | Dialect::Git | Dialect::Clap);
        let whole = text.split(['=', ':']).next().unwrap_or(text);
        let long = text.starts_with("--")
            || !clusters
            || !self.described
            || whole.len() > 2 && self.find(whole).is_some();
        if !long {
            self.cluster(arg, text);
            return;
        }
        let mark = if self.dialect == Dialect::Windows { ':' } else { '=' };
        let (name, attached) = match text.split_once(mark) {
            Some((name, _)) => (name, arg.strip_prefix(&text[..=name.len()])),
            None if arg.literal().is_some() => (text, None),
            // The unknown rest may be the value.
            None => (text, arg.strip_prefix(text)),
        };
        let option = self.find_long(name);
        let values = match (option, attached) {
            (_, Some(value)) => vec![value],
            (Some(option), None) if !option.optional => self.following(option.takes.len()),
            _ => Vec::new(),
        };
        let more = option
            .map_or(0, |option| if values.is_empty() || option.optional { 0 } else { option.takes.len() });
        let values = if values.len() < more {
            let rest = self.following(more - values.len());
            values.into_iter().chain(rest).collect()
        } else {
            values
        };
        let name = option.map_or(name, |option| longest(option, name)).to_owned();
        self.call.given.push(Given { option, name, values });
    }

    /// `-xzf file`: letters up to the first one that takes a value.
    fn cluster(&mut self, arg: &'t Text, text: &str) {
        let (sign, letters) = text.split_at(1);
        for (at, letter) in letters.char_indices() {
            let name = format!("{sign}{letter}");
            let option = self.find(&name);
            let behind = 1 + at + letter.len_utf8();
            let Some(known) = option.filter(|option| !option.takes.is_empty()) else {
                if !letter.is_ascii_digit() || option.is_some() {
                    let name = option.map_or(name.as_str(), |option| longest(option, &name)).to_owned();
                    self.call.given.push(Given { option, name, values: Vec::new() });
                }
                continue;
            };
            let name = longest(known, &name).to_owned();
            if known.takes.first() == Some(&Role::Number) && known.optional {
                self.call.given.push(Given { option, name, values: Vec::new() });
                continue;
            }
            let attached = arg.strip_prefix(&text[..behind]).filter(|value| !value.is_empty());
            let attached = attached.map(|value| match self.dialect {
                Dialect::Clap => value.strip_prefix("=").unwrap_or(value),
                _ => value,
            });
            let missing = known.takes.len() - usize::from(attached.is_some());
            let mut values: Vec<Text> = attached.into_iter().collect();
            if !known.optional {
                values.extend(self.following(missing));
            }
            self.call.given.push(Given { option, name, values });
            return;
        }
    }

    /// `tar xzf file`: letters without a dash, followed by their values in order.
    fn bundle(&mut self) {
        let Some(first) = self.args().first().and_then(Text::literal) else { return };
        if first.starts_with('-') || first.is_empty() || !first.bytes().all(|c| c.is_ascii_alphanumeric()) {
            return;
        }
        self.at = 1;
        for letter in first.chars() {
            let option = self.find(&format!("-{letter}"));
            let values = option.map_or(0, |option| if option.optional { 0 } else { option.takes.len() });
            let values = self.following(values);
            let name = option.map_or_else(|| format!("-{letter}"), |option| longest(option, "").to_owned());
            self.call.given.push(Given { option, name, values });
        }
    }

    /// Takes the next words as values of an option.
    fn following(&mut self, count: usize) -> Vec<Text> {
        let values: Vec<Text> = self.args().iter().skip(self.at).take(count).cloned().collect();
        self.at += values.len();
        values
    }
}

/// The longest name of an option. Reasons use this name.
fn longest<'o>(option: &'o Opt, given: &'o str) -> &'o str {
    option.names.iter().map(AsRef::as_ref).max_by_key(|name: &&str| name.len()).unwrap_or(given)
}

impl<'t> Invocation<'t> {
    /// The innermost row.
    pub fn row(&self) -> Option<&'t Row> {
        self.rows.last().copied()
    }

    fn subcommand(&self, word: &Text) -> Option<&'t Row> {
        let word = word.literal()?;
        let fold = self.rows.first().is_some_and(|row| row.fold);
        let same = |known: &str| known == word || fold && known.eq_ignore_ascii_case(word);
        self.row()?.sub.iter().find(|sub| same(&sub.name) || sub.also.iter().any(|name| same(name)))
    }

    /// The kinds of operands, from the first form that applies.
    pub fn kinds(&self) -> &'t [Operand] {
        let Some(row) = self.row() else { return &[] };
        let form = row.forms.iter().find(|form| form.when.iter().any(|terms| self.holds(terms)));
        match form {
            Some(form) => &form.operands.0,
            None => row.operands.as_ref().map_or(&[], |operands| &operands.0),
        }
    }

    /// The words after the subcommand.
    pub fn operands(&self) -> &[&'t Text] {
        &self.words[self.depth..]
    }

    /// An operand, or an empty string if it is not known.
    pub fn operand(&self, index: usize) -> &'t str {
        self.operands().get(index).map_or("", |word| word.known())
    }

    /// A word, possibly a subcommand, or an empty string if it is not known.
    pub fn word(&self, index: usize) -> &'t str {
        self.words.get(index).map_or("", |word| word.known())
    }

    /// Whether an option is given, in any of its spellings.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.is(name))
    }

    /// Whether one of these options is given.
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// All values of an option.
    pub fn values<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a Text> + use<'a, 'n, 't> {
        self.given.iter().filter(move |given| given.is(name)).flat_map(|given| &given.values)
    }

    /// The value of an option. If it is given several times, the last one.
    pub fn value(&self, name: &str) -> Option<&Text> {
        self.given.iter().rev().find(|given| given.is(name))?.values.last()
    }

    /// The words of the command that it runs.
    pub fn command(&self) -> &'t [Text] {
        self.rest.and_then(|at| self.run.args.get(at..)).unwrap_or_default()
    }

    /// Whether the program only prints help or its version. Then it does nothing else, whatever the other
    /// arguments are.
    pub fn only_informs(&self) -> bool {
        // `kill` has no such options. With `POSIXLY_CORRECT` no program looks for them after its operands.
        if self.run.name == "kill" || self.run.assigns.iter().any(|(name, _)| name == "POSIXLY_CORRECT") {
            return false;
        }
        let asks = |word: &str| matches!(word, "--help" | "--version" | "-help" | "-version" | "--usage");
        let args = &self.run.args;
        if let [only] = args.as_slice() {
            return asks(only.known()) || only.known() == "-V";
        }
        // An option's value, as in `git commit -m --help`, is not a request for help. Neither is an argument of
        // an inner command or of an interpreter's script.
        let plain = |word: &&Text| word.literal().is_some_and(|word| !word.contains(char::is_whitespace));
        let described = self.rows.first().is_some_and(|row| !row.early || !row.sub.is_empty());
        described
            && self.rest.is_none()
            && self.words.iter().all(plain)
            && args.last().is_some_and(|last| asks(last.known()))
            && self.given.last().is_some_and(|given| asks(&given.name) && given.values.is_empty())
    }

    /// Whether the call changes nothing, as with `--dry-run`.
    pub fn is_quiet(&self) -> bool {
        self.rows.iter().any(|row| row.quiet.iter().any(|terms| self.holds(terms)))
            && !self.run.has("--no-dry-run")
    }
}
