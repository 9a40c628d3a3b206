//! Names and the values they are given: `NAME=value`, `"name": "value"`, `name: value`, and headers.

use super::blocks::putty_after;
use super::bytes::{LETTER, LOWER, NAME, QUOTE, UPPER, is, is_at, run_back, starts};
use super::commands::Program;
use super::hashes::pgpass_at;
use super::headers::{cookie_at, credential_after};
use super::judge::is_random;
use super::kind::Kind;
use super::names::{MAX_NAME, Meaning, Named, meaning};
use super::scan::{Hit, Scan};
use super::standins::made_up;
use super::unnamed::name_with_the_word_before;
use super::url::secret_at;
use super::values::{Ending, How, literal_at, secret_kind};
use super::vendor::telegram_at;

/// How far from its name a value may be given: `token: &str = "…"`, `name: TOKEN` and `value: …` below it.
const MAX_DISTANCE: usize = 120;

/// The longest text of an element that is looked at.
const MAX_ELEMENT: usize = 512;

impl Scan<'_> {
    /// Looks at the `=` or `:` at hand.
    pub(super) fn sign(&mut self) {
        let (bytes, at) = (self.bytes, self.at);
        self.at = at + 1;
        if bytes[at] == b':' {
            if starts(bytes, at, b"://") {
                self.at = at + 3;
                return self.take(secret_at(bytes, at));
            }
            if starts(bytes, at, b"::") {
                self.at = at + 2;
                return;
            }
            if let Some(hit) = telegram_at(bytes, at).or_else(|| pgpass_at(bytes, at)) {
                return self.take(Some(hit));
            }
        } else if self.in_cookies {
            return self.take(cookie_at(bytes, at));
        }
        let Some((from, to)) = name_before(bytes, at) else { return };
        let name = name_with_the_word_before(bytes, from, to);
        if let Some(named) = self.meaning_here(name, from) {
            let hit = self.value_of(named, from);
            if hit.is_none() && bytes[at] == b':' {
                self.waiting = Some((named, at));
            }
            self.take(hit);
        }
    }

    /// What the name means, by itself or by what was said just before.
    fn meaning_here(&mut self, name: &[u8], from: usize) -> Option<Named> {
        let (bytes, sign) = (self.bytes, self.at - 1);
        if name == b"pass" && self.program == Program::OpenSsl {
            return Some(Named { meaning: Meaning::Password, kind: Kind::Password, shouted: true });
        }
        if let Some(named) = meaning(name) {
            return Some(named);
        }
        let near = |&(_, at): &(Named, usize)| sign - at <= MAX_DISTANCE;
        match name {
            b"name" | b"key" | b"Name" | b"Key" => {
                let literal = literal_at(bytes, sign + 1, Ending::Usual)?;
                let named = meaning(bytes.get(literal.start..literal.end)?)?;
                self.item = Some((named, sign));
                None
            }
            b"value" | b"Value" => self.item.take().filter(near).map(|(named, _)| named),
            b"Private-Lines" => {
                let hit = putty_after(bytes, sign);
                self.take(hit);
                None
            }
            b"sig" | b"signature" | b"X-Amz-Signature" | b"X-Goog-Signature" => {
                let in_query = from > 0 && matches!(bytes[from - 1], b'?' | b'&' | b';');
                let literal = literal_at(bytes, sign + 1, Ending::Usual).filter(|_| in_query)?;
                let value = bytes.get(literal.start..literal.end)?;
                let drawn = value.len() >= 20 && is_random(value) && !made_up(value);
                let hit = Hit { start: literal.start, end: literal.end, kind: Kind::SignedUrl };
                self.take(drawn.then_some(hit));
                None
            }
            _ if bytes[sign] == b'=' => {
                let is_type = |&(_, at): &(Named, usize)| {
                    !bytes[at..sign].iter().any(|byte| b"\n;,\"'`({/".contains(byte))
                };
                let waiting = self.waiting.take().filter(near).filter(is_type)?;
                literal_at(bytes, sign + 1, Ending::Usual).filter(|literal| literal.quoted).map(|_| waiting.0)
            }
            _ => None,
        }
    }

    fn value_of(&mut self, named: Named, name_from: usize) -> Option<Hit> {
        let (bytes, sign) = (self.bytes, self.at - 1);
        match named.meaning {
            Meaning::Authorization => return credential_after(bytes, sign + 1),
            Meaning::Cookie => {
                self.in_cookies = true;
                return None;
            }
            _ => {}
        }
        let more = bytes.get(sign + 1..)?.iter().take(2).take_while(|byte| b"=>".contains(byte)).count();
        let from = sign + 1 + more;
        let ending = match () {
            () if bytes[sign] != b'=' => Ending::Usual,
            () if in_connection_string(bytes, name_from) => Ending::Semicolon,
            () if begins_line(bytes, name_from) => Ending::Line,
            () => Ending::Usual,
        };
        let literal = literal_at(bytes, from, ending)?;
        let how = match () {
            () if !literal.quoted && ending == Ending::Semicolon => How::Part,
            () if literal.quoted => How::Quoted { assigned: bytes[sign] == b'=' },
            () if literal.start == from && bytes[sign] == b'=' => How::Tight,
            () => How::Loose,
        };
        let value = bytes.get(literal.start..literal.end)?;
        let calls = !literal.quoted && bytes.get(literal.end).is_some_and(|byte| b"([".contains(byte));
        let kind = secret_kind(named, value, how).filter(|_| !calls)?;
        Some(Hit { start: literal.start, end: literal.end, kind })
    }
}

/// The secret in the element whose opening tag ends at this place: `<password>…</password>`.
pub(super) fn element_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let from = run_back(bytes, at, NAME, MAX_NAME);
    let named = meaning(bytes.get(from..at)?).filter(|_| from > 0 && bytes[from - 1] == b'<')?;
    let rest = bytes.get(at + 1..)?;
    let length = rest.iter().take(MAX_ELEMENT).position(|&byte| byte == b'<')?;
    let value = rest.get(..length).filter(|_| starts(rest, length, b"</"))?;
    let kind = secret_kind(named, value, How::Quoted { assigned: true })?;
    Some(Hit { start: at + 1, end: at + 1 + length, kind })
}

/// The name before the sign at this place: bare, quoted, in brackets, or with a type's question mark.
fn name_before(bytes: &[u8], sign: usize) -> Option<(usize, usize)> {
    let mut to = sign;
    let mut steps = 0;
    while to > 0
        && steps < 6
        && matches!(bytes[to - 1], b' ' | b'\t' | b'?' | b'|' | b'!' | b']' | b':' | b'=')
    {
        to -= 1;
        steps += 1;
    }
    if to > 0 && is(bytes[to - 1], QUOTE) {
        to -= 1;
        while to > 0 && steps < 10 && bytes[to - 1] == b'\\' {
            to -= 1;
            steps += 1;
        }
    }
    let from = run_back(bytes, to, NAME, MAX_NAME + 1);
    (to - from >= 2 && is_at(bytes, to - 1, NAME) && bytes[from..to].iter().any(|&byte| is(byte, LETTER)))
        .then(|| (unescaped(bytes, from), to))
}

/// Past the letter of an escape that the name seems to begin with: `\nTOKEN`.
fn unescaped(bytes: &[u8], from: usize) -> usize {
    from + usize::from(from > 0 && bytes[from - 1] == b'\\' && matches!(bytes[from], b'n' | b't' | b'r'))
}

/// Whether the name begins its line, alone or after what exports it.
fn begins_line(bytes: &[u8], from: usize) -> bool {
    let before = bytes.get(from.saturating_sub(8)..from).unwrap_or(&[]);
    before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\\n") || before.ends_with(b"export ")
}

/// Whether the name is a part of a connection string: capitals begin its words, and semicolons part them.
fn in_connection_string(bytes: &[u8], from: usize) -> bool {
    let parted = from > 0 && (bytes[from - 1] == b';' || bytes[..from].ends_with(b"; "));
    parted && is_at(bytes, from, UPPER) && is_at(bytes, from + 1, LOWER)
}
