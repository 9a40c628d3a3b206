//! Parses a shell command line into [`Node`]s, in one pass and without backtracking.
//!
//! Written by hand because every tool call pays for it: general shell parsers cost a tenth of a millisecond on
//! their first call, this one microseconds. Input that it cannot parse is an error, never a guess: the caller
//! treats it as unknown.
//!
//! One file, because it is one grammar: its functions call each other.

use super::ast::{Assign, Node, Simple, Value};
use super::redirections::HereDoc;

/// Why a command could not be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Unknown syntax.
    Syntax,
    /// Nested too deeply.
    Depth,
    /// A syntax error in every shell: nothing of this line runs.
    Refused,
}

const MAX_DEPTH: u32 = 48;

const CLOSERS: [&str; 9] = ["then", "do", "done", "fi", "elif", "else", "esac", "}", "]]"];

/// Parses a whole command. If the shell refuses a line, the lines before it run; in an interactive shell those
/// after it run too.
pub(crate) fn parse(source: &str) -> Result<Node, ParseError> {
    let mut items = Vec::new();
    let mut rest = source;
    loop {
        let mut parser = Parser::new(rest, 0);
        match parser.whole() {
            Err(ParseError::Refused) => {
                let before = rest.get(..parser.line).unwrap_or("");
                items.push(Parser::new(before, 0).whole().map_err(unreadable)?);
                let behind = rest.get(parser.pos..).unwrap_or("");
                rest = behind.split_once('\n').map_or("", |(_, lines)| lines);
            }
            Ok(node) if items.is_empty() => return Ok(node),
            Ok(node) => {
                items.push(node);
                return Ok(Node::Seq(items));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Parses a command inside another one, `depth` levels down.
pub(crate) fn parse_at(source: &str, depth: u32) -> Result<Node, ParseError> {
    Parser::new(source, depth).whole().map_err(unreadable)
}

/// A shell finds an error in a nested command only while the outer one runs, so the outer one is not refused.
pub(super) fn unreadable(error: ParseError) -> ParseError {
    if error == ParseError::Refused { ParseError::Syntax } else { error }
}

pub(super) struct Parser<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) source: &'a str,
    pub(super) pos: usize,
    pub(super) depth: u32,
    pub(super) pending: Vec<HereDoc>,
    /// Start of the line whose first command is being parsed: shells run line by line.
    line: usize,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a str, depth: u32) -> Self {
        Self { bytes: source.as_bytes(), source, pos: 0, depth, pending: Vec::new(), line: 0 }
    }

    fn whole(&mut self) -> Parsed<Node> {
        let node = self.list()?;
        self.finish_here_docs();
        if self.pos < self.bytes.len() {
            return Err(ParseError::Syntax);
        }
        Ok(node)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    pub(super) fn at(&self, text: &str) -> bool {
        self.bytes[self.pos.min(self.bytes.len())..].starts_with(text.as_bytes())
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { Err(ParseError::Syntax) }
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseError::Depth);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Skips blanks, joined lines and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.pos += 1,
                Some(b'\\') if self.at("\\\n") => self.pos += 2,
                Some(b'\\') if self.at("\\\r\n") => self.pos += 3,
                Some(b'#') => {
                    while self.peek().is_some_and(|c| c != b'\n') {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.newline();
        }
    }

    fn newline(&mut self) {
        self.pos += 1;
        if !self.pending.is_empty() {
            self.read_here_docs();
        }
    }

    /// The unquoted word at this position, without consuming it.
    pub(super) fn peek_plain(&self) -> &str {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let end = rest.iter().position(|c| b" \t\r\n;&|<>()\"'\\$`".contains(c)).unwrap_or(rest.len());
        // A word with a quote in it is never a reserved word.
        if rest.get(end).is_some_and(|c| b"\"'\\$`".contains(c)) && !rest[end..].starts_with(b"\\\n") {
            return "";
        }
        // Both ends are ASCII characters, so the slice does not cut a character.
        self.source.get(self.pos..self.pos + end).unwrap_or("")
    }

    /// Consumes a reserved word that must be here.
    pub(super) fn reserved(&mut self, word: &str) -> Parsed<()> {
        self.skip_lines();
        if self.peek_plain() == word { self.expect(word) } else { Err(ParseError::Syntax) }
    }

    fn at_end_of_list(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.at(";;") || self.at(";&"),
            _ => CLOSERS.contains(&self.peek_plain()),
        }
    }

    /// Parses commands up to the end of a list.
    pub(super) fn list(&mut self) -> Parsed<Node> {
        self.nested(|p| {
            let mut items = Vec::new();
            loop {
                let from = p.pos;
                p.skip_lines();
                if p.depth == 1 && p.bytes[from..p.pos].contains(&b'\n') {
                    p.line = p.pos;
                }
                if p.at_end_of_list() {
                    return Ok(one_or(items, Node::Seq));
                }
                let item = p.and_or()?;
                p.skip_blanks();
                match p.peek() {
                    Some(b';') if !p.at(";;") && !p.at(";&") => {
                        p.pos += 1;
                        items.push(item);
                    }
                    Some(b'&') => {
                        p.pos += 1;
                        items.push(Node::Background(Box::new(item)));
                    }
                    Some(b'\n') => items.push(item),
                    _ if p.at_end_of_list() => items.push(item),
                    _ => return Err(ParseError::Syntax),
                }
            }
        })
    }

    fn and_or(&mut self) -> Parsed<Node> {
        let mut items = vec![self.pipeline()?];
        loop {
            self.skip_blanks();
            if !self.eat("&&") && !self.eat("||") {
                return Ok(one_or(items, Node::Seq));
            }
            self.skip_lines();
            items.push(Node::Maybe(Box::new(self.pipeline()?)));
        }
    }

    fn pipeline(&mut self) -> Parsed<Node> {
        self.skip_blanks();
        while self.peek_plain() == "!" {
            self.pos += 1;
            self.skip_blanks();
        }
        let mut stages = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.at("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(one_or(stages, Node::Pipe));
            }
            self.skip_lines();
            stages.push(self.command()?);
        }
    }

    pub(super) fn command(&mut self) -> Parsed<Node> {
        self.nested(|p| {
            p.skip_blanks();
            if p.at("((")
                && let Some(words) = p.arithmetic_command()
            {
                return Ok(Node::Words(words));
            }
            if p.eat("(") {
                let body = p.list()?;
                p.expect(")")?;
                return Ok(Node::Subshell(Box::new(body), p.redirects()?));
            }
            match p.peek_plain() {
                "{" => {
                    p.pos += 1;
                    let body = p.list()?;
                    p.reserved("}")?;
                    p.group(body)
                }
                "if" => p.conditional(),
                keyword @ ("while" | "until") => {
                    let until = keyword == "until";
                    p.pos += 5;
                    let test = p.list()?;
                    p.reserved("do")?;
                    let body = p.list()?;
                    p.reserved("done")?;
                    if super::loops::always(&test, until) {
                        let body = p.group(body)?;
                        return Ok(Node::Seq(vec![test, Node::Endless(Box::new(body))]));
                    }
                    // The body may not run at all.
                    p.group(Node::Seq(vec![test, Node::Maybe(Box::new(body))]))
                }
                "for" => p.for_loop(3),
                "select" => p.for_loop(6),
                "case" => p.case(),
                "function" => {
                    p.pos += 8;
                    p.skip_blanks();
                    // In zsh a function without a name is called at once.
                    if p.at("{") {
                        return p.command();
                    }
                    let name = p.peek_plain().to_owned();
                    p.pos += name.len();
                    p.skip_blanks();
                    if p.eat("(") {
                        p.skip_blanks();
                        p.expect(")")?;
                    }
                    p.function(name)
                }
                "[[" => {
                    p.pos += 2;
                    let words = p.test_words()?;
                    p.group(Node::Words(words))
                }
                "time" => {
                    p.pos += 4;
                    p.skip_blanks();
                    if p.peek_plain() == "-p" {
                        p.pos += 2;
                    }
                    p.skip_blanks();
                    if p.at_end_of_list() || p.peek() == Some(b'\n') {
                        Ok(Node::Seq(Vec::new()))
                    } else {
                        p.command()
                    }
                }
                "coproc" => {
                    p.pos += 6;
                    p.command()
                }
                _ => p.simple(),
            }
        })
    }

    fn simple(&mut self) -> Parsed<Node> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') => {
                    let name = match (simple.words.as_slice(), simple.assigns.is_empty()) {
                        ([only], true) => super::word::plain_text(only).ok_or(ParseError::Syntax)?,
                        _ => return Err(ParseError::Syntax),
                    };
                    self.pos += 1;
                    self.skip_blanks();
                    self.expect(")")?;
                    return self.function(name);
                }
                Some(_) => self.word_or_assignment(&mut simple)?,
            }
        }
        if simple.words.is_empty() && simple.assigns.is_empty() && simple.redirects.is_empty() {
            return Err(ParseError::Syntax);
        }
        Ok(Node::Simple(simple))
    }

    fn word_or_assignment(&mut self, simple: &mut Simple) -> Parsed<()> {
        let declares =
            simple.words.first().and_then(|first| super::word::plain_text(first)).is_some_and(|name| {
                matches!(name.as_str(), "declare" | "typeset" | "local" | "export" | "readonly")
            });
        if (simple.words.is_empty() || declares)
            && let Some((name, append, length)) = assignment_head(&self.bytes[self.pos..])
        {
            let head = self.source.get(self.pos..self.pos + length).unwrap_or("");
            let index = head
                .split_once('[')
                .and_then(|(_, rest)| rest.split_once(']'))
                .map(|(index, _)| index.to_owned());
            let mut indexes: Vec<String> = index.into_iter().collect();
            self.pos += length;
            let value = if self.eat("(") {
                let mut items = Vec::new();
                loop {
                    self.skip_lines();
                    if self.eat(")") {
                        break;
                    }
                    indexes.extend(self.item_index());
                    items.push(self.word()?);
                }
                Value::Array(items)
            } else {
                Value::One(self.word_or_empty()?)
            };
            simple.assigns.push(Assign { name, indexes, append, value });
            return Ok(());
        }
        simple.words.push(self.word()?);
        Ok(())
    }

    /// Skips `[index]=` before an item of an array and returns the index, because substitutions in it run.
    fn item_index(&mut self) -> Option<String> {
        let rest = self.source.get(self.pos..)?.strip_prefix('[')?;
        let (index, _) = rest.split_once("]=")?;
        // A word with a bracket, not an index: the `]=` belongs to a later item.
        if index.contains([' ', '\n']) && !index.contains(['$', '`']) {
            return None;
        }
        self.pos += index.len() + "[]=".len();
        Some(index.to_owned())
    }
}

fn one_or(mut items: Vec<Node>, many: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match items.pop() {
        Some(only) if items.is_empty() => only,
        Some(last) => {
            items.push(last);
            many(items)
        }
        None => Node::Seq(Vec::new()),
    }
}

/// The name before `=`, `+=` or `[i]=`, whether it appends, and its length in bytes.
fn assignment_head(rest: &[u8]) -> Option<(String, bool, usize)> {
    let name = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    if name == 0 || rest[0].is_ascii_digit() {
        return None;
    }
    let mut end = name;
    if rest.get(end) == Some(&b'[') {
        end += rest[end..].iter().position(|c| *c == b']')? + 1;
    }
    let append = rest.get(end) == Some(&b'+') && rest.get(end + 1) == Some(&b'=');
    if !append && rest.get(end) != Some(&b'=') {
        return None;
    }
    let text = std::str::from_utf8(&rest[..name]).ok()?.to_owned();
    Some((text, append, end + 1 + usize::from(append)))
}
