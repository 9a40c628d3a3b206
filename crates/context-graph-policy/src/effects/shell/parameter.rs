//! Parses `$x` and `${x…}`.

use super::ast::{Param, Part, Word};
use super::parse::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn braced_parameter(&mut self, quoted: bool) -> Parsed<Part> {
        let evaluated = self.flags()?;
        let length = self.at("#") && !self.at("#}") && self.eat("#");
        let indirect = self.at("!") && !self.at("!}") && self.eat("!");
        let mut name = self.name();
        if name.is_empty() {
            name.extend(self.take_char());
        }
        let index = if self.eat("[") {
            let word = self.word_until(Some(b']'))?;
            self.expect("]")?;
            Some(word)
        } else {
            None
        };
        let mut op = String::new();
        while let Some(c) = self.peek() {
            let fits = match c {
                b'-' | b'=' | b'+' | b'?' => op.is_empty() || op == ":",
                b'#' | b'%' | b'/' | b'^' | b',' => op.is_empty() || (op.len() == 1 && op.as_bytes()[0] == c),
                b':' | b'@' | b'*' => op.is_empty(),
                _ => false,
            };
            if !fits {
                break;
            }
            op.push(c as char);
            self.pos += 1;
        }
        let arg = if quoted && matches!(op.as_str(), ":-" | "-" | ":=" | "=" | ":+" | "+") {
            self.quoted_operand()?
        } else {
            self.word_until(Some(b'}'))?
        };
        self.expect("}")?;
        Ok(Part::Param {
            param: Box::new(Param { name, indirect, length, index, op, arg, braced: true, evaluated }),
            quoted,
        })
    }

    /// zsh's flags before a name, `${(e)x}`: whether the variable's value is expanded again.
    fn flags(&mut self) -> Parsed<bool> {
        if !self.eat("(") {
            return Ok(false);
        }
        let rest = self.source.get(self.pos..).unwrap_or("");
        let end = rest.find(')').ok_or(super::parse::ParseError::Syntax)?;
        self.pos += end + 1;
        Ok(rest[..end].contains('e'))
    }

    /// Inside double quotes, the single quote in `${x:-it's}` is an ordinary character.
    fn quoted_operand(&mut self) -> Parsed<Word> {
        let mut parts = Vec::new();
        self.quoted_until(Some(b'}'), &mut parts)?;
        self.pos -= 1;
        Ok(parts)
    }
}

pub(super) fn simple_param(name: String, quoted: bool) -> Part {
    let param = Param {
        name,
        indirect: false,
        length: false,
        index: None,
        op: String::new(),
        arg: Vec::new(),
        braced: false,
        evaluated: false,
    };
    Part::Param { param: Box::new(param), quoted }
}
