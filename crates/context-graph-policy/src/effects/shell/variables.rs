//! Variables, arrays and positional parameters that a command sets and reads back.

use super::ast::{Assign, Value};
use super::eval::Shell;
use crate::effects::{Text, Unknown};
use crate::programs::fits_any;

/// How many characters a variable may hold.
const MAX_VALUE: usize = 64 * 1024;
/// How many characters of a value cost as much work as a command.
const BYTES_A_STEP: usize = 256;
/// How many variables are followed.
const MAX_VARIABLES: usize = 256;

impl Shell<'_> {
    pub(super) fn assigned(&mut self, assign: &Assign) -> Vec<Text> {
        for index in &assign.indexes {
            self.subscript(&Text::lit(format!("x[{index}]")));
        }
        match &assign.value {
            Value::One(word) => vec![self.joined(word)],
            Value::Array(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
        }
    }

    pub(super) fn assign(&mut self, assign: &Assign, mut value: Vec<Text>) {
        let name = &assign.name;
        // zsh writes a file when an element of this array is set.
        if name == "mapfile" {
            for file in &assign.indexes {
                self.touch(
                    crate::effects::Access::Write,
                    &Text::lit(file.trim_matches(['"', '\''])),
                    "mapfile",
                );
            }
        }
        // Shells keep aliases, functions and program paths in special arrays.
        let renames =
            ["BASH_ALIASES", "BASH_CMDS", "aliases", "galiases", "saliases", "functions", "commands"];
        if renames.contains(&name.as_str()) && !assign.indexes.is_empty() {
            for (index, meant) in assign.indexes.iter().zip(&value) {
                if let Some(meant) = meant.literal() {
                    self.set_alias(index.trim_matches(['"', '\'']), meant);
                }
            }
            return;
        }
        if matches!(assign.value, Value::Array(_)) {
            if assign.append {
                let mut old = self.frame.arrays.remove(name).unwrap_or_default();
                old.append(&mut value);
                value = old;
            }
            if value.len() > MAX_VARIABLES {
                self.unknown(Unknown::TooLarge);
                value.truncate(MAX_VARIABLES);
            }
            self.frame.arrays.insert(name.clone(), value);
            return;
        }
        let mut value = value.pop().unwrap_or_default();
        if let Some(at) = assign.indexes.first().and_then(|index| index.parse::<usize>().ok()) {
            self.set_element(name, at, value.clone());
        }
        if assign.append {
            let mut old = self.variable(name).unwrap_or_default();
            old.extend(&value);
            value = old;
        }
        self.set(name, value);
    }

    /// `declare`, `local` and similar, with the options that change a variable.
    pub(super) fn declare_all(&mut self, fields: &[Text], declared: Vec<(&Assign, Vec<Text>)>) {
        let verb = fields.first().map_or("", Text::known);
        let letters: String = fields[1..]
            .iter()
            .map(Text::known)
            .filter(|word| word.starts_with('-') && !word.starts_with("--"))
            .collect();
        let is_local = matches!(verb, "local" | "declare" | "typeset") && !letters.contains('g');
        let bare = fields[1..].iter().map(Text::known).filter(|word| !word.starts_with(['-', '+']));
        let named = declared.iter().map(|(assign, _)| assign.name.as_str()).chain(bare);
        let exports = (verb == "export" || letters.contains('x')) && !letters.contains('n');
        for name in named.map(str::to_owned).collect::<Vec<_>>() {
            if exports && self.frame.exported.len() < MAX_VARIABLES {
                self.frame.exported.insert(name.clone());
            }
            if !is_local {
                continue;
            }
            let before = self.frame.vars.get(&name).cloned();
            if let Some(own) = self.locals.last_mut() {
                own.entry(name).or_insert(before);
            }
        }
        for (assign, value) in declared {
            if letters.contains('n') && self.references.len() < MAX_VARIABLES {
                let meant = value.first().map_or("", Text::known).to_owned();
                for name in &value {
                    self.subscript(name);
                }
                self.references.insert(assign.name.clone(), meant);
                continue;
            }
            if letters.contains(['l', 'u']) && self.cases.len() < MAX_VARIABLES {
                self.cases.insert(assign.name.clone(), letters.contains('u'));
            }
            self.assign(assign, value);
        }
    }

    /// The variable that a name refers to.
    pub(super) fn meant(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for _ in 0..8 {
            match self.references.get(&name) {
                Some(meant) if !meant.is_empty() => name.clone_from(meant),
                _ => break,
            }
        }
        name
    }

    pub(crate) fn set(&mut self, name: &str, value: Text) {
        let meant = if self.references.is_empty() { None } else { Some(self.meant(name)) };
        let name = meant.as_deref().unwrap_or(name);
        let value = match (self.cases.get(name), value.literal()) {
            (Some(true), Some(text)) => Text::lit(text.to_uppercase()),
            (Some(false), Some(text)) => Text::lit(text.to_lowercase()),
            _ => value,
        };
        // If the variable is used as a number, a subscript in its value is evaluated.
        self.subscript(&value);
        if name == "IFS" {
            self.split_at = value.literal().map(str::to_owned);
        }
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS3" | "PS4") {
            self.prompted(&value);
        }
        let too_many = self.frame.vars.len() >= MAX_VARIABLES && !self.frame.vars.contains_key(name);
        if too_many || value.len() > MAX_VALUE {
            self.unknown(Unknown::TooLarge);
            return;
        }
        // Long values that are built again and again add up.
        if !self.charge(value.len() / BYTES_A_STEP) {
            return;
        }
        self.frame.vars.insert(name.to_owned(), vec![value]);
    }

    /// A prompt is expanded each time it is shown, including commands in it.
    pub(super) fn prompted(&mut self, value: &Text) {
        if let Some(text) = value.literal().filter(|text| text.contains(['$', '`'])) {
            let script = format!(": {text}");
            self.quietly(|shell| shell.script(&script));
        }
    }

    /// In arithmetic, variable names are replaced by their values, and a subscript in a value is evaluated.
    pub(super) fn counted(&mut self, sum: &str) {
        if self.frame.vars.is_empty() {
            return;
        }
        let names = sum.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty());
        for value in names.filter_map(|name| self.frame.vars.get(name)).flatten().cloned().collect::<Vec<_>>()
        {
            self.subscript(&value);
        }
    }

    pub(crate) fn set_array(&mut self, name: &str, mut values: Vec<Text>) {
        values.truncate(MAX_VARIABLES);
        self.frame.arrays.insert(name.to_owned(), values);
    }

    /// One element of an array: `x[1]=y`.
    fn set_element(&mut self, name: &str, at: usize, value: Text) {
        if at >= MAX_VARIABLES {
            return;
        }
        let array = self.frame.arrays.entry(name.to_owned()).or_default();
        if array.len() <= at {
            array.resize(at + 1, Text::default());
        }
        array[at] = value;
    }

    pub(crate) fn set_positional(&mut self, values: Vec<Text>) {
        let zero = self.frame.positional.first().cloned().unwrap_or_default();
        self.frame.positional = std::iter::once(zero).chain(values).collect();
    }

    pub(crate) fn positional(&self) -> &[Text] {
        &self.frame.positional
    }

    pub(crate) fn array(&self, name: &str) -> Option<&Vec<Text>> {
        self.frame.arrays.get(name)
    }

    /// The names of the variables that this command set, if they fit one of these patterns. The patterns are only needed
    /// if there is a variable.
    pub(crate) fn variables_like<'p>(&self, patterns: impl FnOnce() -> Vec<&'p str>) -> Vec<String> {
        if self.frame.vars.is_empty() {
            return Vec::new();
        }
        let patterns = patterns();
        let fits = |name: &&String| patterns.iter().any(|pattern| fits_any(pattern, name, false));
        self.frame.vars.keys().filter(fits).cloned().collect()
    }

    /// Those of these variables that this command set and exported.
    pub(crate) fn exported(&self, names: &[&str]) -> Vec<String> {
        let is_exported =
            |name: &&&str| self.frame.exported.contains(**name) && self.frame.vars.contains_key(**name);
        names.iter().filter(is_exported).map(|name| (*name).to_owned()).collect()
    }

    /// The value of a variable that this command set. With several values, the current choice.
    pub(crate) fn variable(&mut self, name: &str) -> Option<Text> {
        let values = self.frame.vars.get(name)?;
        self.most_choices = self.most_choices.max(values.len());
        values.get(self.choice % values.len().max(1)).cloned()
    }
}
