//! Names with an assigned value: `NAME=value`, `"name": "value"`, `name: value`, and headers.

use super::blocks::putty_after;
use super::bytes::{
    DIGIT, HEX, LETTER, LOWER, NAME, QUOTE, SPACE, UPPER, all, count, is, is_at, run, run_back, starts,
};
use super::hashes::pgpass_at;
use super::headers::{cookie_at, credential_after};
use super::judge::{is_random, is_uuid};
use super::kind::Kind;
use super::names::{MAX_NAME, Meaning, Named, meaning};
use super::passphrase::phrase_at;
use super::scan::{Hit, Scan};
use super::standins::{is_member, made_up, refers};
use super::unnamed::name_with_the_word_before;
use super::url::secret_at;
use super::values::{Ending, How, below_at, literal_at, secret_kind};
use super::vendor::telegram_at;

/// How far a value may be from its name: `token: &str = "…"`, or `name: TOKEN` with `value: …` below it.
const MAX_DISTANCE: usize = 120;

/// The longest element text that is examined.
const MAX_ELEMENT: usize = 512;

impl Scan<'_> {
    /// Examines the `=` or `:` at the current position.
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

    /// What the name means, by itself or from the context just before.
    fn meaning_here(&mut self, name: &[u8], from: usize) -> Option<Named> {
        let (bytes, sign) = (self.bytes, self.at - 1);
        if let Some(named) = meaning(name) {
            return Some(named);
        }
        let near = |&(_, at): &(Named, usize)| sign - at <= MAX_DISTANCE;
        match name {
            b"name" | b"key" | b"Name" | b"Key" | b"KEY" => {
                let literal = literal_at(bytes, sign + 1, Ending::Usual)?;
                let value = bytes.get(literal.start..literal.end)?;
                if let Some(named) = meaning(value) {
                    self.item = Some((named, sign));
                } else if name.len() == 3 && drawn_key(value, in_query(bytes, from)) {
                    self.take(Some(Hit { start: literal.start, end: literal.end, kind: Kind::KEY }));
                }
                None
            }
            b"code" if in_query(bytes, from) => {
                let literal = literal_at(bytes, sign + 1, Ending::Usual)?;
                let drawn = drawn_key(bytes.get(literal.start..literal.end)?, true);
                self.take(drawn.then_some(Hit { start: literal.start, end: literal.end, kind: Kind::TOKEN }));
                None
            }
            b"value" | b"Value" => self.item.take().filter(near).map(|(named, _)| named),
            b"Private-Lines" => {
                let hit = putty_after(bytes, sign);
                self.take(hit);
                None
            }
            b"sig" | b"signature" | b"X-Amz-Signature" | b"X-Goog-Signature" => {
                let literal = literal_at(bytes, sign + 1, Ending::Usual).filter(|_| in_query(bytes, from))?;
                let value = bytes.get(literal.start..literal.end)?;
                let drawn = value.len() >= 20 && is_random(value) && !made_up(value);
                let hit = Hit { start: literal.start, end: literal.end, kind: Kind::SIGNED_URL };
                self.take(drawn.then_some(hit));
                None
            }
            _ if bytes[sign] == b'=' => {
                let is_type = |&(_, at): &(Named, usize)| {
                    !bytes[at..sign].iter().any(|byte| b"\n;,\"'`({/".contains(byte))
                };
                let waiting = self.waiting.take().filter(near).filter(is_type).map(|(named, _)| named);
                let named = waiting.or_else(|| named_before_type(bytes, name, from))?;
                literal_at(bytes, sign + 1, Ending::Usual).filter(|literal| literal.quoted).map(|_| named)
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
        if named.meaning == Meaning::Password
            && (bytes[sign] == b':' || bytes.get(from) == Some(&b' '))
            && let Some(phrase) = phrase_at(bytes, from)
        {
            return Some(Hit { start: phrase.start, end: phrase.end, kind: named.kind });
        }
        let literal = literal_at(bytes, from, ending);
        let literal = if bytes[sign] == b':' { literal.or_else(|| below_at(bytes, from)) } else { literal }?;
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

/// The secret in the element whose opening tag ends here: `<password>…</password>`.
pub(super) fn element_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let from = run_back(bytes, at, NAME, MAX_NAME);
    let named = meaning(bytes.get(from..at)?).filter(|_| from > 0 && bytes[from - 1] == b'<')?;
    let rest = bytes.get(at + 1..)?;
    let length = rest.iter().take(MAX_ELEMENT).position(|&byte| byte == b'<')?;
    let value = rest.get(..length).filter(|_| starts(rest, length, b"</"))?;
    let blank = value.iter().take_while(|&&byte| is(byte, SPACE)).count();
    let value = value.trim_ascii();
    let kind = secret_kind(named, value, How::Quoted { assigned: true })?;
    Some(Hit { start: at + 1 + blank, end: at + 1 + blank + value.len(), kind })
}

/// The secret after the comma at this position, if the string before the comma names it: `"API_KEY", "…"`, as
/// in calls, headers and lists of pairs.
pub(super) fn pair_at(bytes: &[u8], comma: usize) -> Option<Hit> {
    let quote = comma.checked_sub(1).filter(|&quote| is(bytes[quote], QUOTE))?;
    let from = run(bytes, comma + 1, SPACE, 64);
    if !bytes.get(from).is_some_and(|&byte| is(byte, QUOTE) || byte == b'\\') {
        return None;
    }
    let to = quote - bytes[..quote].iter().rev().take(8).take_while(|&&byte| byte == b'\\').count();
    let name_from = run_back(bytes, to, NAME, MAX_NAME + 1);
    let whole = name_from > 0 && bytes[name_from - 1] == bytes[quote];
    let named = meaning(bytes.get(name_from..to)?).filter(|_| whole)?;
    if named.meaning == Meaning::Authorization {
        return credential_after(bytes, from);
    }
    string_at(bytes, from, named, How::Quoted { assigned: false })
}

/// The secret in a setter call whose `(` is at this position: `setApiKey("…")`.
pub(super) fn setter_at(bytes: &[u8], open: usize) -> Option<Hit> {
    if !bytes.get(open + 1).is_some_and(|&byte| is(byte, QUOTE) || byte == b'\\') {
        return None;
    }
    let from = run_back(bytes, open, NAME, MAX_NAME + 1);
    let name = bytes.get(from..open)?;
    let named = meaning(name)?;
    let last = name.rsplit(|&byte| byte == b'.').next()?;
    let sets = [&b"set"[..], b"Set", b"with", b"With"].iter().any(|&verb| last.starts_with(verb));
    if named.meaning == Meaning::Password && !sets {
        return None;
    }
    string_at(bytes, open + 1, named, How::Quoted { assigned: sets })
}

/// The secret in the quotes at this position, after a name and a space: `storePassword "…"`.
pub(super) fn quoted_after_name(bytes: &[u8], quote: usize) -> Option<Hit> {
    let to = quote.checked_sub(1).filter(|&blank| bytes[blank] == b' ')?;
    let from = run_back(bytes, to, NAME, MAX_NAME + 1);
    let named = meaning(bytes.get(from..to)?).filter(|named| named.meaning != Meaning::QuotedPassword)?;
    string_at(bytes, quote, named, How::Quoted { assigned: false })
}

/// The secret after `<-`, whose dash is at this position.
pub(super) fn given_at(bytes: &[u8], dash: usize) -> Option<Hit> {
    let (from, to) = name_before(bytes, dash.checked_sub(1)?)?;
    string_at(bytes, dash + 1, meaning(&bytes[from..to])?, How::Quoted { assigned: true })
}

/// The string that begins here, if it is the named secret.
fn string_at(bytes: &[u8], from: usize, named: Named, how: How) -> Option<Hit> {
    let literal = literal_at(bytes, from, Ending::Usual).filter(|literal| literal.quoted)?;
    let kind = secret_kind(named, bytes.get(literal.start..literal.end)?, how)?;
    Some(Hit { start: literal.start, end: literal.end, kind })
}

/// Whether the value of a vague name such as `key` is random. A value in the query of a URL may be shorter.
fn drawn_key(value: &[u8], in_query: bool) -> bool {
    let kinds = [UPPER, LOWER, DIGIT].iter().filter(|&&set| count(value, set) >= 3).count();
    let enough = if in_query {
        value.len() >= 16
    } else {
        value.len() >= 20 && kinds >= 2 && !all(value, HEX) && !value.iter().any(|byte| b"/.:".contains(byte))
    };
    enough && is_random(value) && !is_uuid(value) && !made_up(value) && !is_member(value) && !refers(value)
}

/// The name before the `=` or `:` at this position: bare, quoted, in brackets, or with a type's question mark.
fn name_before(bytes: &[u8], sign: usize) -> Option<(usize, usize)> {
    let mut to = sign;
    let mut steps = 0;
    // `.=` and `+=` append to a value.
    if to > 0 && bytes[sign] == b'=' && matches!(bytes[to - 1], b'.' | b'+') {
        to -= 1;
    }
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

/// The meaning of the word before a type: `token string = "…"`.
fn named_before_type(bytes: &[u8], of_type: &[u8], from: usize) -> Option<Named> {
    let to = from.checked_sub(1).filter(|&blank| bytes[blank] == b' ')?;
    if !matches!(of_type, b"string" | b"String" | b"str" | b"text") {
        return None;
    }
    meaning(bytes.get(run_back(bytes, to, NAME, MAX_NAME + 1)..to)?)
}

/// Whether the name is in the query of a URL.
fn in_query(bytes: &[u8], from: usize) -> bool {
    from > 0 && matches!(bytes[from - 1], b'?' | b'&' | b';')
}

/// Skips the letter of an escape before the name: `\nTOKEN`.
fn unescaped(bytes: &[u8], from: usize) -> usize {
    from + usize::from(from > 0 && bytes[from - 1] == b'\\' && matches!(bytes[from], b'n' | b't' | b'r'))
}

/// Whether the name begins its line, alone or after `export` and the like.
fn begins_line(bytes: &[u8], from: usize) -> bool {
    let before = bytes.get(from.saturating_sub(8)..from).unwrap_or(&[]);
    before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"\\n") || before.ends_with(b"export ")
}

/// Whether the name is part of a connection string: its words begin with capitals, and semicolons separate the
/// parts.
fn in_connection_string(bytes: &[u8], from: usize) -> bool {
    let parted = from > 0 && (bytes[from - 1] == b';' || bytes[..from].ends_with(b"; "));
    parted && is_at(bytes, from, UPPER) && is_at(bytes, from + 1, LOWER)
}
