//! A text that is changed step by step, with the way back.
//!
//! After each step the text is read again, so a step that would break it is never taken any further.

use super::item::Item;
use super::layout::{self, Splice, Style};
use super::node::{Hop, Node};
use super::parse::parse;
use crate::error::SettingsError;

/// Takes one splice back: `remove` bytes at `at` give way to `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: String,
}

impl Step {
    /// Makes a splice in a text and gives the way back.
    pub(crate) fn make(text: &mut String, splice: &Splice) -> Self {
        let removed = text.get(splice.range.clone()).unwrap_or("").to_owned();
        text.replace_range(splice.range.clone(), &splice.insert);
        Self { at: splice.range.start, remove: splice.insert.len(), insert: removed }
    }

    /// Takes the step back, if the text has such a place.
    pub(crate) fn revert(&self, text: &mut String) -> Option<()> {
        let end = self.at.checked_add(self.remove)?;
        text.get(self.at..end)?;
        text.replace_range(self.at..end, &self.insert);
        Some(())
    }
}

/// A text, what it says, and how it came to be.
#[derive(Debug)]
pub(crate) struct Editor {
    text: String,
    root: Node,
    style: Style,
    steps: Vec<Step>,
}

impl Editor {
    /// Begins with a text. `steps` are those that were already made on it.
    pub(crate) fn new(text: String, steps: Vec<Step>) -> Result<Self, SettingsError> {
        let root = parse(&text)?;
        let style = Style::of(&text, &root);
        Ok(Self { text, root, style, steps })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// The text, and the way back from it.
    pub(crate) fn finish(self) -> (String, Vec<Step>) {
        (self.text, self.steps)
    }

    /// Puts a child behind the last one.
    pub(crate) fn append(
        &mut self,
        path: &[Hop<'_>],
        key: Option<&str>,
        item: &Item,
    ) -> Result<(), SettingsError> {
        let splice = self.root.at(path).map(|node| layout::append(&self.text, &self.style, node, key, item));
        self.apply(splice)
    }

    /// Gives an object's key a value.
    pub(crate) fn set(&mut self, path: &[Hop<'_>], key: &str, item: &Item) -> Result<(), SettingsError> {
        let splice = self.root.at(path).map(|node| layout::set(&self.text, &self.style, node, key, item));
        self.apply(splice)
    }

    /// Takes a child out; `inside` is what stays between the brackets if it was the only one.
    pub(crate) fn remove(
        &mut self,
        path: &[Hop<'_>],
        index: usize,
        inside: &str,
    ) -> Result<(), SettingsError> {
        let splice = self.root.at(path).and_then(|node| layout::remove(node, index, inside));
        self.apply(splice)
    }

    /// Takes a key out of an object.
    pub(crate) fn remove_key(
        &mut self,
        path: &[Hop<'_>],
        key: &str,
        inside: &str,
    ) -> Result<(), SettingsError> {
        let index = self.root.at(path).and_then(|node| node.members().iter().position(|m| m.key == key));
        match index {
            Some(index) => self.remove(path, index, inside),
            None => Ok(()),
        }
    }

    fn apply(&mut self, splice: Option<Splice>) -> Result<(), SettingsError> {
        if let Some(splice) = splice {
            self.steps.push(Step::make(&mut self.text, &splice));
            self.root = parse(&self.text)?;
        }
        Ok(())
    }
}
