//! The language of `sed`, as far as its commands touch files and run programs.

use std::iter::Peekable;
use std::str::Chars;

/// What a command of a script does besides editing text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// `w file`
    Write(String),
    /// `r file`
    Read(String),
    /// `e command`
    Run(String),
    /// `e`, or `s///e`: runs the text that is being edited.
    RunText,
}

/// What the commands of a script reach. If a command cannot be parsed, the rest of its line is skipped.
pub(super) fn reached(script: &str) -> Vec<Reached> {
    let mut script = Script { rest: script.chars().peekable(), found: Vec::new() };
    while script.rest.peek().is_some() {
        script.command();
    }
    script.found
}

struct Script<'s> {
    rest: Peekable<Chars<'s>>,
    found: Vec<Reached>,
}

impl Script<'_> {
    fn command(&mut self) {
        self.addresses();
        match self.rest.next() {
            Some('w' | 'W') => {
                let file = self.name();
                self.found.push(Reached::Write(file));
            }
            Some('r' | 'R') => {
                let file = self.name();
                self.found.push(Reached::Read(file));
            }
            Some('e') => {
                let command = self.name();
                self.found.push(if command.is_empty() { Reached::RunText } else { Reached::Run(command) });
            }
            Some('s') => self.substitution(),
            Some('y') => {
                let mark = self.rest.next();
                self.skip_to(mark);
                self.skip_to(mark);
            }
            Some('a' | 'i' | 'c' | 'b' | 't' | 'T' | ':' | '#') => {
                self.line();
            }
            _ => {}
        }
    }

    /// `1,5!`, `/x/I,$`, `\,x,` and the characters between commands.
    fn addresses(&mut self) {
        while let Some(c) = self.rest.peek().copied() {
            match c {
                '/' => {
                    self.rest.next();
                    self.skip_to(Some('/'));
                    self.flags("IM");
                }
                '\\' => {
                    self.rest.next();
                    let mark = self.rest.next();
                    self.skip_to(mark);
                    self.flags("IM");
                }
                '0'..='9' | ',' | '$' | '!' | '~' | '+' | ';' | '{' | '}' => {
                    self.rest.next();
                }
                c if c.is_whitespace() => {
                    self.rest.next();
                }
                _ => return,
            }
        }
    }

    fn flags(&mut self, known: &str) {
        while self.rest.peek().is_some_and(|c| known.contains(*c)) {
            self.rest.next();
        }
    }

    fn substitution(&mut self) {
        let mark = self.rest.next();
        self.skip_to(mark);
        self.skip_to(mark);
        let mut runs = false;
        while let Some(flag) = self.rest.peek().copied() {
            match flag {
                'w' => {
                    self.rest.next();
                    let file = self.name();
                    self.found.push(Reached::Write(file));
                    break;
                }
                'e' => runs = true,
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {}
                _ => break,
            }
            self.rest.next();
        }
        if runs {
            self.found.push(Reached::RunText);
        }
    }

    /// Skips past the next unescaped `mark`. Inside brackets the mark is an ordinary character.
    fn skip_to(&mut self, mark: Option<char>) {
        let mut bracket = false;
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                '[' if !bracket && mark == Some('/') => bracket = true,
                ']' => bracket = false,
                '\n' => return,
                _ if Some(c) == mark && !bracket => return,
                _ => {}
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            line.push(c);
        }
        line
    }

    /// The rest of the line. If that is only a backslash, the next line.
    fn name(&mut self) -> String {
        let mut name = self.line();
        if name.trim() == "\\" {
            self.rest.next();
            name = self.line();
        }
        name.trim_start_matches(|c: char| c == '\\' || c.is_whitespace()).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Reached::{Read, Run, RunText, Write};
    use super::reached;

    #[test]
    fn files_and_programs_are_seen_however_they_are_written() {
        let writes = |file: &str| vec![Write(file.to_owned())];
        for script in
            ["w x", "wx", "/a/w x", "/a/Iwx", "1,2wx", "$!wx", "s/a/b/w x", "s/a/b/gwx", "s,a/,b,wx"]
        {
            assert_eq!(reached(script), writes("x"), "{script}");
        }
        assert_eq!(reached("y/a/b/;wx"), writes("x"));
        assert_eq!(reached("w\\\nx"), writes("x"));
        assert_eq!(reached("1!{w x"), writes("x"));
        assert_eq!(reached("s/[/]/b/;r y"), [Read("y".to_owned())]);
        assert_eq!(reached("1erm -rf x"), [Run("rm -rf x".to_owned())]);
        assert_eq!(reached("e"), [RunText]);
        assert_eq!(reached("s/.*/date/e"), [RunText]);
    }

    #[test]
    fn text_is_no_command() {
        for script in ["s/we/re/", "s|/w/|/e/|g", "a we", "/write/d", "1,5p", "s/x/w/", "y/we/er/", "$d"] {
            assert_eq!(reached(script), [], "{script}");
        }
    }
}
