//! The layout of a text, and how insertions and removals change its bytes.
//!
//! An insertion goes after the last child, and a removal removes exactly what an insertion adds. So each undoes
//! the other byte for byte.

use std::ops::Range;

use super::item::{Item, quoted};
use super::node::{Node, NodeKind};
use super::parse::{bom_len, is_space};

/// The layout of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// Its line ending.
    pub(crate) newline: &'static str,
    /// One level of indentation.
    pub(crate) indent: String,
    /// The text between a key and its value.
    pub(crate) colon: String,
    /// What follows a comma on the same line.
    pub(crate) gap: &'static str,
    /// Whether its values are on lines of their own.
    pub(crate) lines: bool,
}

impl Style {
    /// The layout of a text with this root.
    pub(crate) fn of(text: &str, root: &Node) -> Self {
        let first = root.members().first();
        let lead = first.map_or("", |member| space_before(text, member.key_span.start));
        let own = line_indent(text, root.span.start);
        let indent = after_newline(lead)
            .and_then(|indent| indent.strip_prefix(own))
            .filter(|indent| !indent.is_empty())
            .unwrap_or("  ");
        let lines = first.is_none() || lead.contains(['\n', '\r']);
        let colon = first
            .and_then(|member| text.get(member.key_span.end..member.value.span.start))
            .filter(|colon| !colon.contains(['\n', '\r']))
            .unwrap_or(": ");
        let gap = if lines || colon.ends_with(' ') { " " } else { "" };
        Self { newline: newline_of(text), indent: indent.to_owned(), colon: colon.to_owned(), gap, lines }
    }
}

/// The line ending of a text; `\n` if it has only one line.
pub(crate) fn newline_of(text: &str) -> &'static str {
    match text.find(['\n', '\r']).and_then(|at| text.get(at..)) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// A replacement of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) insert: String,
}

/// Appends a child to an object (with a key) or an array (without).
pub(crate) fn append(text: &str, style: &Style, container: &Node, key: Option<&str>, item: &Item) -> Splice {
    let prefix = key.map(|key| format!("{}{}", quoted(key), style.colon)).unwrap_or_default();
    let newline = style.newline;
    let children = container.children();
    if let Some(last) = children.last() {
        let lead = space_before(text, last.start);
        let insert = if let Some(indent) = after_newline(lead) {
            format!(",{newline}{indent}{prefix}{}", item.over_lines(style, indent))
        } else {
            let gap = if children.len() > 1 { lead } else { style.gap };
            format!(",{gap}{prefix}{}", item.on_one_line(style))
        };
        return Splice { range: last.end..last.end, insert };
    }
    let insert = if style.lines {
        let outer = line_indent(text, container.span.start);
        let indent = format!("{outer}{}", style.indent);
        format!("{newline}{indent}{prefix}{}{newline}{outer}", item.over_lines(style, &indent))
    } else {
        format!("{prefix}{}", item.on_one_line(style))
    };
    Splice { range: container.inside(), insert }
}

/// Removes a child from an object or array. If it is the only one, `inside` stays between the brackets.
pub(crate) fn remove(container: &Node, index: usize, inside: &str) -> Option<Splice> {
    let children = container.children();
    let child = children.get(index)?;
    if children.len() == 1 {
        return Some(Splice { range: container.inside(), insert: inside.to_owned() });
    }
    let range = match index.checked_sub(1).and_then(|previous| children.get(previous)) {
        Some(previous) => previous.end..child.end,
        None => child.start..children.get(1)?.start,
    };
    Some(Splice { range, insert: String::new() })
}

/// Sets the value of an object's key: replaced in place, or appended.
pub(crate) fn set(text: &str, style: &Style, object: &Node, key: &str, item: &Item) -> Splice {
    let Some(there) = object.get(key) else {
        return append(text, style, object, Some(key), item);
    };
    let over_lines = matches!(there.kind, NodeKind::Object(_))
        && text.get(there.span.clone()).unwrap_or("").contains('\n');
    let insert = if over_lines {
        item.over_lines(style, line_indent(text, there.span.start))
    } else {
        item.on_one_line(style)
    };
    Splice { range: there.span.clone(), insert }
}

/// The white space directly before an offset.
fn space_before(text: &str, offset: usize) -> &str {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    let length = before.iter().rev().take_while(|byte| is_space(**byte)).count();
    text.get(offset - length..offset).unwrap_or("")
}

/// The indentation of the line at an offset.
fn line_indent(text: &str, offset: usize) -> &str {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind(['\n', '\r']).map_or(bom_len(text), |at| at + 1);
    let line = text.get(start..).unwrap_or("");
    line.find(|c| c != ' ' && c != '\t').and_then(|end| line.get(..end)).unwrap_or("")
}

/// The part of white space after its last line break, if it has one.
fn after_newline(space: &str) -> Option<&str> {
    space.rfind(['\n', '\r']).and_then(|at| space.get(at + 1..))
}
