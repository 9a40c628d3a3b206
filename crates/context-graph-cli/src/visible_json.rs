//! JSON that is safe to print on a terminal, without loss: invisible characters are written as escapes.

use std::borrow::Cow;
use std::io::{self, Write};

use context_graph_events::safe_text::is_invisible;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Escapes invisible characters in JSON text, on one or several lines. Outside strings, the only invisible
/// characters in JSON are line breaks; inside strings there are no line breaks.
pub(crate) fn visible(json: &str) -> Cow<'_, str> {
    if !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = Vec::with_capacity(json.len() + 16);
    // Writing to memory cannot fail, and only whole characters are written.
    let _ = write_fragment(&mut out, json);
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Writes a value and a line break.
pub(crate) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Visible))?;
    out.write_all(b"\n")
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        write_fragment(out, fragment)
    }
}

fn is_hidden(c: char) -> bool {
    c != '\n' && (c.is_control() || is_invisible(c))
}

fn write_fragment<W: ?Sized + Write>(out: &mut W, fragment: &str) -> io::Result<()> {
    let mut rest = 0;
    for (at, c) in fragment.char_indices().filter(|(_, c)| is_hidden(*c)) {
        out.write_all(&fragment.as_bytes()[rest..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        rest = at + c.len_utf8();
    }
    out.write_all(&fragment.as_bytes()[rest..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_is_written_and_nothing_is_lost() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}b\u{202e}c\u{e0001}\n\"ü 日本\u{200b}";
        let mut line = Vec::new();
        write_line(&mut line, &text).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, "\"a\\u001b[31m\\u007f\\u009bb\\u202ec\\udb40\\udc01\\n\\\"ü 日本\\u200b\"\n");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }

    #[test]
    fn a_text_of_several_lines_keeps_them_and_its_meaning() {
        let value = serde_json::json!({"a\u{9b}": ["b\u{202e}", "c\nd"]});
        let text = format!("{value:#}");
        let shown = visible(&text);
        assert!(!shown.contains(is_hidden) && shown.lines().count() == text.lines().count(), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
