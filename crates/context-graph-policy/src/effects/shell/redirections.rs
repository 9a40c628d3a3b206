//! Parses redirections and the here-documents that follow their line.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ast::{Redirect, RedirectKind, Word};
use super::parse::{ParseError, Parsed, Parser};

/// A here-document whose body starts on the next line.
pub(super) struct HereDoc {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    slot: Rc<OnceCell<Word>>,
}

impl Parser<'_> {
    pub(super) fn read_here_docs(&mut self) {
        for doc in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while self.pos < self.bytes.len() {
                let rest = &self.source[self.pos..];
                let line = rest.split('\n').next().unwrap_or("");
                self.pos = (self.pos + line.len() + 1).min(self.bytes.len());
                let line = if doc.strip_tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == doc.delimiter {
                    break;
                }
                // Inside a substitution its closing parenthesis also ends the document.
                if let Some(after) =
                    line.strip_prefix(doc.delimiter.as_str()).filter(|after| after.starts_with(')'))
                    && self.depth > 1
                {
                    self.pos -= after.len() + 1;
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let word = if doc.quoted {
                vec![super::ast::Part::Quoted(body)]
            } else {
                super::word::here_doc_body(&body, self.depth)
            };
            // The slot was made for this document alone, so it is still empty.
            let _ = doc.slot.set(word);
        }
    }

    pub(super) fn finish_here_docs(&mut self) {
        if !self.pending.is_empty() {
            self.read_here_docs();
        }
    }

    pub(super) fn redirects(&mut self) -> Parsed<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let mut prefix = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        if prefix == 0 && rest.first() == Some(&b'{') {
            let name = rest[1..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
            if rest.get(1 + name) == Some(&b'}') && matches!(rest.get(2 + name), Some(b'<' | b'>')) {
                prefix = name + 2;
            }
        }
        let both = prefix == 0 && (rest.starts_with(b"&>"));
        if !both && !matches!(rest.get(prefix), Some(b'<' | b'>')) {
            return Ok(None);
        }
        if matches!(rest.get(prefix..prefix + 2), Some(b"<(" | b">(")) {
            return Ok(None);
        }
        let head = self.source.get(self.pos..self.pos + prefix).unwrap_or("");
        let fd = head.parse().ok();
        let name = head.strip_prefix('{').and_then(|name| name.strip_suffix('}')).map(str::to_owned);
        self.pos += prefix;
        let kind = if self.eat("&>>") || self.eat(">>") {
            self.forced();
            RedirectKind::Append(self.redirect_word()?)
        } else if self.eat("&>") {
            self.forced();
            RedirectKind::Write(self.redirect_word()?)
        } else if self.eat("<<<") {
            RedirectKind::HereString(self.redirect_word()?)
        } else if self.eat("<<-") {
            self.here_doc(true)?
        } else if self.eat("<<") {
            self.here_doc(false)?
        } else if self.eat("<>") {
            RedirectKind::ReadWrite(self.redirect_word()?)
        } else if self.eat(">&") || self.eat("<&") {
            self.forced();
            RedirectKind::Duplicate(self.redirect_word()?)
        } else if self.eat(">") {
            self.forced();
            RedirectKind::Write(self.redirect_word()?)
        } else {
            self.expect("<")?;
            RedirectKind::Read(self.redirect_word()?)
        };
        Ok(Some(Redirect { fd, name, kind }))
    }

    /// `>|`, and zsh's `>!`: overwrites the file even with `noclobber`.
    fn forced(&mut self) {
        let _ = self.eat("|") || self.eat("!");
    }

    fn redirect_word(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        let rest = &self.bytes[self.pos.min(self.bytes.len())..];
        let number = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let again = matches!(rest.get(number), Some(b'<' | b'>')) && rest.get(number + 1) != Some(&b'(');
        if again || matches!(rest.first(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
            return Err(self.refused());
        }
        self.word()
    }

    /// A redirection without a target or in a wrong place: `git diff <commit>`. In zsh `<1-9>` is a pattern.
    pub(super) fn refused(&self) -> ParseError {
        let before = self.source.get(..self.pos).unwrap_or("");
        let inner = before.rsplit_once('>').and_then(|(before, _)| before.rsplit_once('<'));
        let numbers = |text: &str| text.bytes().all(|c| c.is_ascii_digit() || c == b'-');
        if inner.is_some_and(|(_, inner)| numbers(inner)) { ParseError::Syntax } else { ParseError::Refused }
    }

    fn here_doc(&mut self, strip_tabs: bool) -> Parsed<RedirectKind> {
        let word = self.redirect_word()?;
        let quoted = word.iter().any(|part| matches!(part, super::ast::Part::Quoted(_)));
        let delimiter = super::word::plain_text(&word).ok_or(ParseError::Syntax)?;
        let slot = Rc::new(OnceCell::new());
        self.pending.push(HereDoc { delimiter, quoted, strip_tabs, slot: Rc::clone(&slot) });
        Ok(RedirectKind::HereDoc(slot))
    }
}
