//! One pass over the text. Most bytes cost one table lookup; words and punctuation are examined further.
//!
//! Every rule looks at a bounded range around its position, so the pass is linear.

use super::assign::{element_at, given_at, pair_at, quoted_after_name, setter_at};
use super::blocks::{Block, block_at, body_before, key_lines_at};
use super::bytes::{ALNUM, ANY_HEX, LETTER, QUOTE, SPACE, is, is_at, run};
use super::command_lines::passwords_of;
use super::commands::{flag_at, spoken_after};
use super::hashes::{digest_after, hash_at};
use super::headers::credential_of_scheme;
use super::kind::Kind;
use super::marker::end_of_marker;
use super::memory::Memory;
use super::names::Named;
use super::unnamed::{LONG, secret_around};
use super::url::data_source_at;
use super::vendor::{
    aws_secret_near, azure_client_secret_at, token_at, token_within, web_token_at, wrapped_key_at,
};

/// Skips the colour sequence that begins here, so that its last letter is not taken as part of the next word.
fn past_colour(bytes: &[u8], at: usize) -> usize {
    let end =
        at + 1 + bytes[at + 1..].iter().take(16).take_while(|byte| b"0123456789;:?".contains(byte)).count();
    let escaped =
        at > 0 && bytes[at - 1] == 0x1b || bytes[..at].ends_with(b"001b") || bytes[..at].ends_with(b"x1b");
    let ends = bytes
        .get(end)
        .is_some_and(|&byte| if escaped { is(byte, LETTER) } else { byte == b'm' && end > at + 1 });
    if ends { end + 1 } else { at + 1 }
}

/// Whether there is a percent-encoded byte here, such as `%2F`.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    is_at(bytes, at + 1, ANY_HEX) && is_at(bytes, at + 2, ANY_HEX)
}

/// A found secret: its range and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
}

/// What the pass does at a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Pass,
    Word,
    Sign,
    Dash,
    Escape,
    Bracket,
    At,
    Tilde,
    Dollar,
    Percent,
    /// The end of a tag.
    Tag,
    Comma,
    Open,
    Quote,
    /// The end of a command. A line break also ends a header.
    End,
    Line,
}

static STEPS: [Step; 256] = steps();

const fn steps() -> [Step; 256] {
    let mut steps = [Step::Pass; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        steps[byte as usize] = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Step::Word,
            b'=' | b':' => Step::Sign,
            b'-' => Step::Dash,
            b'\\' => Step::Escape,
            b'[' => Step::Bracket,
            b'@' => Step::At,
            b'~' => Step::Tilde,
            b'$' => Step::Dollar,
            b'%' => Step::Percent,
            b'>' => Step::Tag,
            b',' => Step::Comma,
            b'(' => Step::Open,
            b'"' | b'\'' => Step::Quote,
            b';' | b'|' | b'&' => Step::End,
            b'\n' => Step::Line,
            _ => Step::Pass,
        };
        byte += 1;
    }
    steps
}

/// The state of the pass: its position, and what it saw that matters later.
#[derive(Debug)]
pub(super) struct Scan<'t> {
    pub bytes: &'t [u8],
    pub at: usize,
    /// Whether the current assignments are cookies.
    pub in_cookies: bool,
    /// A name whose value may still follow after its type.
    pub waiting: Option<(Named, usize)>,
    /// The name of a secret that was found as a value (`name: TOKEN`). The secret itself may be in the next `value:
    /// …`.
    pub item: Option<(Named, usize)>,
    hits: Vec<Hit>,
    /// Passwords that the current command line will contain, the next one last.
    ahead: Vec<Hit>,
    key: &'t [u8; 32],
    memory: &'t Memory,
    /// How many more bytes may be compared with remembered secrets if nothing matches.
    budget: usize,
}

impl<'t> Scan<'t> {
    /// The secrets in this text, in order and not overlapping. `in_cookies` is set if the whole text is a line
    /// of cookies.
    pub(super) fn of(text: &'t str, in_cookies: bool, key: &'t [u8; 32], memory: &'t Memory) -> Vec<Hit> {
        let bytes = text.as_bytes();
        let mut scan = Scan {
            bytes,
            at: 0,
            in_cookies,
            waiting: None,
            item: None,
            hits: Vec::new(),
            ahead: Vec::new(),
            key,
            memory,
            budget: 4 * bytes.len(),
        };
        while let Some(&byte) = bytes.get(scan.at) {
            if let Some(hit) = scan.ahead.pop_if(|hit| hit.start <= scan.at) {
                scan.take(Some(hit));
                continue;
            }
            match STEPS[byte as usize] {
                Step::Pass => scan.at += 1,
                Step::Word => scan.word(),
                Step::Sign => scan.sign(),
                Step::Dash => scan.dash(),
                Step::Escape => scan.escape(),
                Step::Bracket => {
                    scan.at = end_of_marker(bytes, scan.at).unwrap_or_else(|| past_colour(bytes, scan.at));
                }
                Step::Dollar => scan.look(hash_at),
                // The digits of `%2F` are not part of the next word.
                Step::Percent => scan.at += if is_escaped(bytes, scan.at) { 3 } else { 1 },
                Step::At => scan.look(data_source_at),
                Step::Tag => scan.look(element_at),
                Step::Comma => scan.look(pair_at),
                Step::Open => scan.look(setter_at),
                Step::Quote => scan.look(quoted_after_name),
                Step::Tilde => scan.look(azure_client_secret_at),
                Step::End | Step::Line => scan.end(byte),
            }
        }
        while let Some(hit) = scan.ahead.pop() {
            scan.take(Some(hit));
        }
        scan.hits.retain(|hit| text.get(hit.start..hit.end).is_some());
        scan.hits
    }

    /// Stores a hit and continues after it.
    pub(super) fn take(&mut self, hit: Option<Hit>) {
        if let Some(hit) = hit.filter(|hit| hit.start >= self.floor() && hit.end > hit.start) {
            self.hits.push(hit);
            self.at = hit.end;
        }
    }

    /// Remembers passwords of the command that begins here. A password that is piped into the command is before it in
    /// the text and is stored immediately.
    fn expect(&mut self, passwords: Vec<Hit>) {
        if passwords.is_empty() {
            return;
        }
        let floor = self.floor();
        for hit in passwords.into_iter().rev() {
            if hit.start >= self.at {
                self.ahead.push(hit);
            } else if hit.start >= floor {
                self.hits.push(hit);
            }
        }
        self.ahead.sort_by_key(|hit| std::cmp::Reverse(hit.start));
    }

    /// The end of the last secret.
    fn floor(&self) -> usize {
        self.hits.last().map_or(0, |hit| hit.end)
    }

    fn look(&mut self, rule: fn(&[u8], usize) -> Option<Hit>) {
        let at = self.at;
        self.at += 1;
        self.take(rule(self.bytes, at));
    }

    fn word(&mut self) {
        let (bytes, from) = (self.bytes, self.at);
        let to = run(bytes, from, ALNUM, usize::MAX);
        self.at = to;
        if self.memory.may_know(to - from)
            && let Some(hit) = self.memory.find(self.key, bytes, (from, to), &mut self.budget)
            && hit.start >= self.floor()
        {
            return self.take(Some(hit));
        }
        let token = token_at(bytes, from).or_else(|| match bytes[from] {
            b'e' => web_token_at(bytes, from),
            b'L' => wrapped_key_at(bytes, from),
            b'M' | b'b' => key_lines_at(bytes, from),
            _ => None,
        });
        let token = token.or_else(|| token_within(bytes, from, to));
        if let Some(token) = token {
            self.take(Some(token));
            if token.kind == Kind::AWS_ACCESS_KEY_ID {
                self.beside_access_key(token.end);
            }
            return;
        }
        if to - from >= LONG {
            return self.take(secret_around(bytes, from, to, self.floor()));
        }
        self.known_word(from, to);
    }

    /// The secret of an access key may follow shortly after it, with or without a name.
    fn beside_access_key(&mut self, after: usize) {
        if let Some(hit) = aws_secret_near(self.bytes, after) {
            self.take(Some(hit));
        }
    }

    /// Words that announce something: a program, a scheme, a password.
    fn known_word(&mut self, from: usize, to: usize) {
        let bytes = self.bytes;
        let word = &bytes[from..to];
        self.expect(passwords_of(bytes, from, to));
        let hit = match (word[0] | 0x20, word.len()) {
            (b'b', 5 | 6) if word.eq_ignore_ascii_case(b"bearer") || word.eq_ignore_ascii_case(b"basic") => {
                credential_of_scheme(bytes, word, to)
            }
            (b'p', 6 | 8 | 10)
                if [&b"password"[..], b"passwd", b"passphrase"]
                    .iter()
                    .any(|name| word.eq_ignore_ascii_case(name)) =>
            {
                spoken_after(bytes, from, to)
            }
            (b's', 3 | 4) if matches!(word, b"SHA" | b"SSHA") => digest_after(bytes, from, to),
            (b'i', 10) if word.eq_ignore_ascii_case(b"identified") => spoken_after(bytes, from, to),
            _ => None,
        };
        self.take(hit);
    }

    fn dash(&mut self) {
        let (bytes, at) = (self.bytes, self.at);
        self.at += 1;
        match block_at(bytes, at) {
            Some(Block::Private(hit)) => return self.take(Some(hit)),
            Some(Block::Public(end)) => {
                self.at = end.max(at + 1);
                return;
            }
            None => {}
        }
        if let Some(hit) = body_before(bytes, at, self.floor()) {
            return self.take(Some(hit));
        }
        if at > 0 && bytes[at - 1] == b'<' {
            return self.take(given_at(bytes, at));
        }
        let begins = at == 0 || is(bytes[at - 1], SPACE | QUOTE) || b"([".contains(&bytes[at - 1]);
        if begins {
            self.take(flag_at(bytes, at));
        }
    }

    /// Skips an escape: the letter after the backslash is not part of the next word.
    fn escape(&mut self) {
        match self.bytes.get(self.at + 1) {
            Some(b'u') => self.at += 6,
            Some(b'n') => {
                self.in_cookies = false;
                self.at += 2;
            }
            // A backslash at the end of the line continues the command.
            Some(b'r' | b't' | b'\n') => self.at += 2,
            _ => self.at += 1,
        }
    }

    fn end(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.in_cookies = false;
        }
    }
}
