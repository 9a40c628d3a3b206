//! Parses compound commands: conditions, loops, cases, functions, tests.

use std::rc::Rc;

use super::ast::{Node, Word};
use super::parse::{ParseError, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn group(&mut self, body: Node) -> Parsed<Node> {
        Ok(Node::Group(Box::new(body), self.redirects()?))
    }

    pub(super) fn conditional(&mut self) -> Parsed<Node> {
        self.pos += 2;
        let mut tests = vec![self.list()?];
        self.reserved("then")?;
        let mut branches = vec![self.list()?];
        loop {
            self.skip_lines();
            if self.peek_plain() == "elif" {
                self.pos += 4;
                tests.push(self.list()?);
                self.reserved("then")?;
                branches.push(self.list()?);
            } else if self.peek_plain() == "else" {
                self.pos += 4;
                branches.push(self.list()?);
            } else {
                self.reserved("fi")?;
                tests.push(Node::Branches(branches));
                return self.group(Node::Seq(tests));
            }
        }
    }

    pub(super) fn for_loop(&mut self, keyword: usize) -> Parsed<Node> {
        self.pos += keyword;
        self.skip_blanks();
        if self.at("((") {
            let words = self.arithmetic_command().ok_or(ParseError::Syntax)?;
            self.skip_blanks();
            self.eat(";");
            self.reserved("do")?;
            let body = self.list()?;
            self.reserved("done")?;
            return self.group(Node::Seq(vec![Node::Words(words), body]));
        }
        let name = self.peek_plain().to_owned();
        self.pos += name.len();
        self.skip_lines();
        let words = if self.peek_plain() == "in" {
            self.pos += 2;
            let mut words = Vec::new();
            loop {
                self.skip_blanks();
                if matches!(self.peek(), None | Some(b';' | b'\n')) {
                    break;
                }
                if self.redirect()?.is_some() {
                    return Err(self.refused());
                }
                words.push(self.word()?);
            }
            Some(words)
        } else {
            None
        };
        self.skip_blanks();
        self.eat(";");
        self.skip_lines();
        let body = if self.peek_plain() == "{" {
            self.pos += 1;
            let body = self.list()?;
            self.reserved("}")?;
            body
        } else {
            self.reserved("do")?;
            let body = self.list()?;
            self.reserved("done")?;
            body
        };
        Ok(Node::For { name, words, body: Box::new(body), redirects: self.redirects()? })
    }

    pub(super) fn case(&mut self) -> Parsed<Node> {
        self.pos += 4;
        self.skip_blanks();
        let mut words = vec![self.word()?];
        self.reserved("in")?;
        let mut branches = Vec::new();
        loop {
            self.skip_lines();
            if self.peek_plain() == "esac" {
                self.pos += 4;
                let words = Node::Words(words);
                return self.group(Node::Seq(vec![words, Node::Branches(branches)]));
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                words.push(self.word()?);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            branches.push(self.list()?);
            self.skip_lines();
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    pub(super) fn function(&mut self, name: String) -> Parsed<Node> {
        if name.is_empty() {
            return Err(ParseError::Syntax);
        }
        self.skip_lines();
        let body = Rc::new(self.command()?);
        Ok(Node::Function { name, body })
    }

    /// Everything between `[[` and `]]`. Operators are skipped; words are kept for their substitutions.
    pub(super) fn test_words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.peek() {
                None => return Err(ParseError::Syntax),
                _ if self.peek_plain() == "]]" => {
                    self.pos += 2;
                    return Ok(words);
                }
                Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|' | b';') => self.pos += 1,
                Some(_) => words.push(self.word()?),
            }
        }
    }
}
