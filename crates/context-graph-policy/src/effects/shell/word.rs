//! Parses words: quotes, escapes, parameters and substitutions.

use std::rc::Rc;

use super::ast::{Part, Word};
use super::parameter::simple_param;
use super::parse::{ParseError, Parsed, Parser, parse_at, unreadable};

/// The text of a word that needs no expansion.
pub(crate) fn plain_text(word: &[Part]) -> Option<String> {
    let mut text = String::new();
    for part in word {
        match part {
            Part::Bare(piece) | Part::Quoted(piece) => text.push_str(piece),
            _ => return None,
        }
    }
    Some(text)
}

/// The body of a here-document with an unquoted delimiter. Text that cannot be parsed stays as it is.
pub(super) fn here_doc_body(body: &str, depth: u32) -> Word {
    let mut parser = Parser::new(body, depth);
    let mut parts = Vec::new();
    match parser.quoted_until(None, &mut parts) {
        Ok(()) => parts,
        Err(_) => vec![Part::Quoted(body.to_owned())],
    }
}

impl Parser<'_> {
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let word = self.word_or_empty()?;
        if word.is_empty() { Err(ParseError::Syntax) } else { Ok(word) }
    }

    pub(super) fn word_or_empty(&mut self) -> Parsed<Word> {
        self.nested(|p| p.word_until(None))
    }

    /// A word. It ends at a blank or operator, or inside `${…}` at the closing brace or another given byte.
    pub(super) fn word_until(&mut self, closer: Option<u8>) -> Parsed<Word> {
        let mut parts: Word = Vec::new();
        let mut bare = String::new();
        while let Some(c) = self.peek() {
            if Some(c) == closer {
                break;
            }
            match c {
                b'<' | b'>' if closer.is_none() && self.bytes.get(self.pos + 1) == Some(&b'(') => {
                    self.pos += 2;
                    flush(&mut bare, &mut parts);
                    let body = self.list().map_err(unreadable)?;
                    self.expect(")")?;
                    parts.push(Part::Process(Rc::new(body)));
                }
                b'(' if closer.is_none() && bare.ends_with(['@', '!', '+', '*', '?']) => {
                    bare.pop();
                    flush(&mut bare, &mut parts);
                    let code = self.qualifier().and_then(|code| super::parse::parse(code).ok());
                    parts.extend(code.map(|code| Part::Process(Rc::new(code))));
                    self.skip_parentheses()?;
                    parts.push(Part::AnyName);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
                    if closer.is_none() =>
                {
                    break;
                }
                b'\\' => {
                    self.pos += 1;
                    if self.eat("\n") || self.eat("\r\n") {
                        continue;
                    }
                    flush(&mut bare, &mut parts);
                    let text = self.take_char().unwrap_or('\\');
                    push_quoted(&mut parts, text);
                }
                b'\'' => {
                    self.pos += 1;
                    flush(&mut bare, &mut parts);
                    let rest = &self.source[self.pos..];
                    let end = rest.find('\'').ok_or(ParseError::Syntax)?;
                    parts.push(Part::Quoted(rest[..end].to_owned()));
                    self.pos += end + 1;
                }
                b'"' => {
                    self.pos += 1;
                    flush(&mut bare, &mut parts);
                    let before = parts.len();
                    self.quoted_until(Some(b'"'), &mut parts)?;
                    // An empty string is a word; an empty `"$@"` is not.
                    if parts.len() == before {
                        parts.push(Part::Quoted(String::new()));
                    }
                }
                b'$' | b'`' => {
                    flush(&mut bare, &mut parts);
                    if let Some(part) = self.dollar(false)? {
                        parts.push(part);
                    } else {
                        self.pos += 1;
                        bare.push('$');
                    }
                }
                _ => bare.extend(self.take_char()),
            }
        }
        flush(&mut bare, &mut parts);
        Ok(parts)
    }

    pub(super) fn take_char(&mut self) -> Option<char> {
        let c = self.source.get(self.pos..)?.chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// Text in double quotes, or a whole here-document if no closer is given.
    pub(super) fn quoted_until(&mut self, closer: Option<u8>, parts: &mut Word) -> Parsed<()> {
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                if closer.is_some() {
                    return Err(ParseError::Syntax);
                }
                break;
            };
            if Some(c) == closer {
                self.pos += 1;
                break;
            }
            match c {
                b'\\' => {
                    self.pos += 1;
                    match self.take_char() {
                        Some('\n') => {}
                        Some(escaped @ ('$' | '`' | '"' | '\\')) => text.push(escaped),
                        Some(other) => {
                            text.push('\\');
                            text.push(other);
                        }
                        None => text.push('\\'),
                    }
                }
                b'$' | b'`' => {
                    if let Some(part) = self.dollar(true)? {
                        if !text.is_empty() {
                            parts.push(Part::Quoted(std::mem::take(&mut text)));
                        }
                        parts.push(part);
                    } else {
                        self.pos += 1;
                        text.push('$');
                    }
                }
                _ => text.extend(self.take_char()),
            }
        }
        if !text.is_empty() {
            parts.push(Part::Quoted(text));
        }
        Ok(())
    }

    /// What starts with `$` or a backtick; `None` if the `$` is an ordinary character.
    fn dollar(&mut self, quoted: bool) -> Parsed<Option<Part>> {
        if self.eat("`") {
            return self.backticks(quoted).map(Some);
        }
        let next = self.bytes.get(self.pos + 1).copied();
        match next {
            Some(b'(') => {
                if self.at("$((") {
                    let start = self.pos;
                    self.pos += 1;
                    if let Some(mut words) = self.arithmetic_command() {
                        return Ok(Some(Part::Arithmetic(words.pop().unwrap_or_default())));
                    }
                    self.pos = start;
                }
                self.pos += 2;
                // A here-document started outside must not end inside.
                let outer = std::mem::take(&mut self.pending);
                let body = self.list().map_err(unreadable)?;
                self.pending = outer;
                self.expect(")")?;
                Ok(Some(Part::Output { body: Rc::new(body), quoted }))
            }
            Some(b'{') => {
                self.pos += 2;
                self.nested(|p| p.braced_parameter(quoted)).map(Some)
            }
            Some(b'\'') if !quoted => {
                self.pos += 2;
                self.ansi_c().map(|text| Some(Part::Quoted(text)))
            }
            Some(b'"') if !quoted => {
                // `$"…"` is translated text: the string itself, depending on the locale. The caller reads the
                // quotes.
                self.pos += 1;
                Ok(Some(Part::Quoted(String::new())))
            }
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                self.pos += 1;
                let name = self.name();
                Ok(Some(simple_param(name, quoted)))
            }
            Some(c) if c.is_ascii_digit() || b"@*#?$!-".contains(&c) => {
                self.pos += 2;
                Ok(Some(simple_param((c as char).to_string(), quoted)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn name(&mut self) -> String {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let length = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
        let name = self.source[self.pos..self.pos + length].to_owned();
        self.pos += length;
        name
    }

    fn backticks(&mut self, quoted: bool) -> Parsed<Part> {
        let mut text = String::new();
        loop {
            match self.take_char() {
                None => return Err(ParseError::Syntax),
                Some('`') => break,
                Some('\\') => match self.take_char() {
                    Some(escaped @ ('`' | '$' | '\\')) => text.push(escaped),
                    Some('"') if quoted => text.push('"'),
                    Some(other) => {
                        text.push('\\');
                        text.push(other);
                    }
                    None => return Err(ParseError::Syntax),
                },
                Some(other) => text.push(other),
            }
        }
        if self.depth >= 40 {
            return Err(ParseError::Depth);
        }
        let body = parse_at(&text, self.depth + 1)?;
        Ok(Part::Output { body: Rc::new(body), quoted })
    }

    /// `$'…'`, unescaped.
    fn ansi_c(&mut self) -> Parsed<String> {
        let mut text = String::new();
        loop {
            match self.take_char() {
                None => return Err(ParseError::Syntax),
                Some('\'') => return Ok(text),
                Some('\\') => {
                    let escape = self.take_char().ok_or(ParseError::Syntax)?;
                    match escape {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        'a' | 'b' | 'e' | 'E' | 'f' | 'v' => text.push(' '),
                        'x' => text.extend(self.code_point(16, 2)),
                        'u' => text.extend(self.code_point(16, 4)),
                        'U' => text.extend(self.code_point(16, 8)),
                        '0'..='7' => {
                            self.pos -= 1;
                            text.extend(self.code_point(8, 3));
                        }
                        other => text.push(other),
                    }
                }
                Some(other) => text.push(other),
            }
        }
    }

    fn code_point(&mut self, radix: u32, most: usize) -> Option<char> {
        let mut value = 0u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| (c as char).to_digit(radix)) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            self.pos += 1;
        }
        char::from_u32(value).filter(|c| *c != '\0')
    }

    /// `((…))` from its first parenthesis. `None`, with nothing consumed, if these are two subshells.
    pub(super) fn arithmetic_command(&mut self) -> Option<Vec<Word>> {
        let start = self.pos;
        let mut depth = 0i32;
        let mut end = start;
        for (offset, c) in self.bytes[start..].iter().enumerate() {
            match c {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = start + offset;
                break;
            }
            if depth == 1 && *c == b')' && self.bytes.get(start + offset + 1) != Some(&b')') {
                return None;
            }
        }
        if end <= start + 2 || self.bytes.get(end - 1) != Some(&b')') {
            return None;
        }
        let inner = self.source.get(start + 2..end - 1)?;
        let mut parser = Parser::new(inner, self.depth + 1);
        let mut parts = Vec::new();
        parser.nested(|p| p.quoted_until(None, &mut parts)).ok()?;
        self.pos = end + 1;
        Some(vec![parts])
    }

    /// The code that zsh runs for each matching name: `*(e:'…':)`.
    fn qualifier(&self) -> Option<&str> {
        let rest = self.source.get(self.pos..)?.strip_prefix("(e")?;
        let mark = rest.chars().next().filter(char::is_ascii_punctuation)?;
        let (code, _) = rest[1..].rsplit_once(')')?.0.rsplit_once(mark)?;
        Some(code.trim_matches(['\'', '"']))
    }

    fn skip_parentheses(&mut self) -> Parsed<()> {
        let mut depth = 0;
        while let Some(c) = self.take_char() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                '\\' => {
                    self.take_char();
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
        Err(ParseError::Syntax)
    }
}

fn flush(bare: &mut String, parts: &mut Word) {
    if !bare.is_empty() {
        parts.push(Part::Bare(std::mem::take(bare)));
    }
}

fn push_quoted(parts: &mut Word, c: char) {
    if let Some(Part::Quoted(text)) = parts.last_mut() {
        text.push(c);
    } else {
        parts.push(Part::Quoted(c.to_string()));
    }
}
