//! Functions and aliases: names that a command gives to other commands.

use std::rc::Rc;

use super::ast::Node;
use super::eval::{MAX_NESTING, Shell};
use super::flow::Flow;
use crate::effects::{Text, Unknown};

/// How many aliases are followed.
const MAX_ALIASES: usize = 64;

impl Shell<'_> {
    pub(super) fn call(&mut self, body: &Rc<Node>, fields: Vec<Text>, stdin: &Flow) -> Flow {
        let name = fields[0].known().to_owned();
        if self.calls.iter().filter(|running| **running == name).count() > 1 {
            return Flow::default();
        }
        if self.nesting >= MAX_NESTING {
            self.unknown(Unknown::TooLarge);
            return Flow::default();
        }
        self.calls.push(name);
        self.nesting += 1;
        let positional = std::mem::replace(&mut self.frame.positional, fields);
        self.locals.push(std::collections::BTreeMap::new());
        let flow = self.node(body, stdin);
        for (name, value) in self.locals.pop().unwrap_or_default() {
            match value {
                Some(value) => self.frame.vars.insert(name, value),
                None => self.frame.vars.remove(&name),
            };
        }
        self.frame.positional = positional;
        self.nesting -= 1;
        self.calls.pop();
        flow
    }

    /// Also runs the program that a function or an alias hides. The function may be unset by then or never
    /// defined, and a non-interactive shell ignores aliases.
    pub(super) fn run_hidden(&mut self, fields: &[Text], assigns: &[(String, Text)], stdin: &Flow) {
        let Some(name) = fields[0].literal().filter(|name| !self.calls.iter().any(|call| call == name))
        else {
            return;
        };
        if crate::programs::known(name).is_some() || crate::guards::own_verbs::is_own_name(name) {
            self.run(fields.to_vec(), assigns.to_vec(), stdin);
        }
    }

    /// Calls the handler for missing programs, if this command defines one.
    pub(crate) fn call_missing(&mut self, words: Vec<Text>, stdin: &Flow) -> bool {
        let name = "command_not_found_handle";
        let Some(body) = self.functions.get(name).filter(|_| !self.calls.iter().any(|call| call == name))
        else {
            return false;
        };
        let body = Rc::clone(body);
        self.call(&body, std::iter::once(Text::lit(name)).chain(words).collect(), stdin);
        true
    }

    /// Gives a command another name.
    pub(crate) fn set_alias(&mut self, name: &str, meant: &str) {
        if self.aliases.len() < MAX_ALIASES && !name.is_empty() {
            self.aliases.insert(name.to_owned(), meant.to_owned());
        }
    }

    /// The git alias that this command defines.
    pub(crate) fn defined_alias(&self, name: &str) -> Option<Text> {
        self.aliases.get(&format!("git {name}")).map(|meant| Text::lit(meant.as_str()))
    }

    /// The command that an alias expands to. Inside its own expansion, as in `alias ls='ls -F'`, the name keeps its
    /// old meaning.
    pub(super) fn alias_of(&self, word: &Text) -> Option<String> {
        if self.aliases.is_empty() {
            return None;
        }
        let name = word.literal()?;
        let under_way = self.calls.iter().any(|call| call == name);
        self.aliases.get(name).filter(|_| !under_way).cloned()
    }

    pub(super) fn call_alias(&mut self, meant: &str, fields: Vec<Text>, stdin: &Flow) -> Flow {
        self.calls.push(fields[0].known().to_owned());
        let positional = std::mem::replace(&mut self.frame.positional, fields);
        let flow = self.script_fed(&format!("{meant} \"$@\""), stdin);
        self.frame.positional = positional;
        self.calls.pop();
        flow
    }
}
