//! A text that is edited step by step, with undo.
//!
//! After each step the text is parsed again, so a step that would break it is caught at once.

use super::item::Item;
use super::layout::{self, Splice, Style};
use super::node::{Hop, Node};
use super::parse::parse;
use crate::error::SettingsError;

/// Undoes one splice: replaces `remove` bytes at `at` by `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: String,
}

impl Step {
    /// Applies a splice to a text and returns the step that undoes it.
    pub(crate) fn make(text: &mut String, splice: &Splice) -> Self {
        let removed = text.get(splice.range.clone()).unwrap_or("").to_owned();
        text.replace_range(splice.range.clone(), &splice.insert);
        Self { at: splice.range.start, remove: splice.insert.len(), insert: removed }
    }

    /// Undoes the step, if the text has such a position.
    pub(crate) fn revert(&self, text: &mut String) -> Option<()> {
        let end = self.at.checked_add(self.remove)?;
        text.get(self.at..end)?;
        text.replace_range(self.at..end, &self.insert);
        Some(())
    }
}

/// A text, its parsed form, and the steps that led to it.
#[derive(Debug)]
pub(crate) struct Editor {
    text: String,
    root: Node,
    style: Style,
    steps: Vec<Step>,
}

impl Editor {
    /// Starts with a text. `steps` are the ones already applied to it.
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

    /// The text, and the steps to undo.
    pub(crate) fn finish(self) -> (String, Vec<Step>) {
        (self.text, self.steps)
    }

    /// Appends a child.
    pub(crate) fn append(
        &mut self,
        path: &[Hop<'_>],
        key: Option<&str>,
        item: &Item,
    ) -> Result<(), SettingsError> {
        let splice = self.root.at(path).map(|node| layout::append(&self.text, &self.style, node, key, item));
        self.apply(splice)
    }

    /// Sets the value of an object's key.
    pub(crate) fn set(&mut self, path: &[Hop<'_>], key: &str, item: &Item) -> Result<(), SettingsError> {
        let splice = self.root.at(path).map(|node| layout::set(&self.text, &self.style, node, key, item));
        self.apply(splice)
    }

    /// Removes a child; `inside` is what stays between the brackets if it was the only one.
    pub(crate) fn remove(
        &mut self,
        path: &[Hop<'_>],
        index: usize,
        inside: &str,
    ) -> Result<(), SettingsError> {
        let splice = self.root.at(path).and_then(|node| layout::remove(node, index, inside));
        self.apply(splice)
    }

    /// Removes a key from an object.
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
