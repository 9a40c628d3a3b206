//! The strict parser: standard JSON, one value, no duplicate keys, and a position for every error.
//!
//! The client may be more lenient. We do not edit what we cannot parse exactly.

use std::collections::HashSet;

use super::node::{Member, Node, NodeKind};
use crate::error::{SettingsError, TextPosition};

/// How deep arrays and objects may nest. Settings use less than ten.
const MAX_DEPTH: usize = 128;

/// The length of the byte order mark at the start of a text, in bytes; 0 if there is none.
pub(crate) fn bom_len(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Whether a text has only white space and perhaps a byte order mark.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().skip(bom_len(text)).all(is_space)
}

/// Whether a byte is JSON white space.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Parses the one value of a text.
pub(crate) fn parse(text: &str) -> Result<Node, SettingsError> {
    let mut reader = Reader { text, at: bom_len(text), depth: 0 };
    reader.skip_space();
    let node = reader.value()?;
    reader.skip_space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.unexpected("the end of the file")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn error_at(&self, offset: usize, problem: impl Into<String>) -> SettingsError {
        SettingsError::Syntax { place: TextPosition::of(self.text, offset), problem: problem.into() }
    }

    fn unexpected(&self, expected: &str) -> SettingsError {
        let rest = self.text.get(self.at..).unwrap_or("");
        let problem = match rest.chars().next() {
            None => format!("the file ends where {expected} should be"),
            Some('/') if rest.starts_with("//") || rest.starts_with("/*") => {
                "comments are not JSON".to_owned()
            }
            Some(c) => format!("found {c:?} where {expected} should be"),
        };
        self.error_at(self.at, problem)
    }

    fn value(&mut self) -> Result<Node, SettingsError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => NodeKind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", NodeKind::Bool)?,
            Some(b'f') => self.word("false", NodeKind::Bool)?,
            Some(b'n') => self.word("null", NodeKind::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn nested(
        &mut self,
        read: impl Fn(&mut Self) -> Result<NodeKind, SettingsError>,
    ) -> Result<NodeKind, SettingsError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error_at(self.at, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        let kind = read(self)?;
        self.depth -= 1;
        Ok(kind)
    }

    fn object(&mut self) -> Result<NodeKind, SettingsError> {
        let mut members: Vec<Member> = Vec::new();
        let mut seen = HashSet::new();
        if self.closes(b'}') {
            return Ok(NodeKind::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            if !seen.insert(key.clone()) {
                return Err(self.error_at(start, format!("the key {key:?} is there twice")));
            }
            let key_span = start..self.at;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("':'"));
            }
            self.at += 1;
            self.skip_space();
            let value = self.value()?;
            members.push(Member { key, key_span, value });
            if self.ends_or_goes_on(b'}')? {
                return Ok(NodeKind::Object(members));
            }
        }
    }

    fn array(&mut self) -> Result<NodeKind, SettingsError> {
        let mut elements = Vec::new();
        if self.closes(b']') {
            return Ok(NodeKind::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            if self.ends_or_goes_on(b']')? {
                return Ok(NodeKind::Array(elements));
            }
        }
    }

    fn closes(&mut self, bracket: u8) -> bool {
        let closes = self.peek() == Some(bracket);
        self.at += usize::from(closes);
        closes
    }

    /// After a child: true at the closing bracket, false at a comma with another child after it.
    fn ends_or_goes_on(&mut self, bracket: u8) -> Result<bool, SettingsError> {
        self.skip_space();
        if self.closes(bracket) {
            return Ok(true);
        }
        let comma = self.at;
        if self.peek() != Some(b',') {
            return Err(self.unexpected(if bracket == b'}' { "',' or '}'" } else { "',' or ']'" }));
        }
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(bracket) {
            return Err(self.error_at(comma, "a comma with nothing after it"));
        }
        Ok(false)
    }

    fn word(&mut self, word: &str, kind: NodeKind) -> Result<NodeKind, SettingsError> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return Err(self.unexpected("a value"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn number(&mut self) -> Result<NodeKind, SettingsError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        if self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.') {
            return Err(self.error_at(start, "not a number that JSON knows"));
        }
        Ok(NodeKind::Number)
    }

    fn digits(&mut self) -> Result<(), SettingsError> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.unexpected("a digit"));
        }
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, SettingsError> {
        let open = self.at;
        self.at += 1;
        let mut units: Vec<u16> = Vec::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let Some(c) = rest.chars().next() else {
                return Err(self.error_at(open, "a string that does not end"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    // Half a surrogate pair is legal JSON but not a valid string; we never write one.
                    return Ok(String::from_utf16_lossy(&units));
                }
                '\\' => units.push(self.escape()?),
                '\n' | '\r' => return Err(self.error_at(open, "a string that does not end on its line")),
                c if u32::from(c) < 0x20 => {
                    return Err(self.error_at(self.at, "a control character in a string"));
                }
                c => {
                    self.at += c.len_utf8();
                    units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<u16, SettingsError> {
        let start = self.at;
        let code = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(u16::from(match code {
            Some(c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let digits = self.text.get(self.at..self.at + 4).unwrap_or("");
                if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(self.error_at(start, "\\u without four hexadecimal digits"));
                }
                self.at += 4;
                return Ok(u16::from_str_radix(digits, 16).unwrap_or(0xfffd));
            }
            _ => return Err(self.error_at(start, "a backslash before a character that needs none")),
        }))
    }
}
