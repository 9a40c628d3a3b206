//! A value and its byte range.

use std::ops::Range;

/// A value in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// The byte range of the value.
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

/// The type and content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    Null,
    Bool,
    Number,
    /// The decoded string.
    Text(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hop<'a> {
    Key(&'a str),
    Element(usize),
}

impl Node {
    /// The value at the end of a path.
    pub(crate) fn at(&self, path: &[Hop<'_>]) -> Option<&Node> {
        path.iter().try_fold(self, |node, hop| match hop {
            Hop::Key(key) => node.get(key),
            Hop::Element(index) => node.elements().get(*index),
        })
    }

    /// The value of a key, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The members of an object; empty for anything else.
    pub(crate) fn members(&self) -> &[Member] {
        if let NodeKind::Object(members) = &self.kind { members } else { &[] }
    }

    /// The elements of an array; empty for anything else.
    pub(crate) fn elements(&self) -> &[Node] {
        if let NodeKind::Array(elements) = &self.kind { elements } else { &[] }
    }

    /// The text of a string.
    pub(crate) fn as_text(&self) -> Option<&str> {
        if let NodeKind::Text(text) = &self.kind { Some(text) } else { None }
    }

    /// The byte range of each child: key and value in an object, the element in an array.
    pub(crate) fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            NodeKind::Object(members) => {
                members.iter().map(|member| member.key_span.start..member.value.span.end).collect()
            }
            NodeKind::Array(elements) => elements.iter().map(|element| element.span.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// The byte range between the brackets of an object or array.
    pub(crate) fn inside(&self) -> Range<usize> {
        self.span.start + 1..self.span.end.saturating_sub(1).max(self.span.start + 1)
    }

    /// The type in words.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool => "a boolean",
            NodeKind::Number => "a number",
            NodeKind::Text(_) => "a string",
            NodeKind::Array(_) => "an array",
            NodeKind::Object(_) => "an object",
        }
    }
}
