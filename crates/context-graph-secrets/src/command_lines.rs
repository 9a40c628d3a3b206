//! Passwords by their position on a command line, as `commands.toml` describes it for each program.

use super::bytes::{NAME, QUOTE, is, is_at};
use super::kind::Kind;
use super::marker::has_marker;
use super::names::{Meaning, Named, meaning};
use super::scan::Hit;
use super::standins::{only_words, refers};
use super::values::{How, secret_kind};

/// A row: where this program is given a password.
struct Command {
    name: &'static str,
    words: &'static [&'static str],
    flags: &'static [&'static str],
    part: Option<u8>,
    operand: Option<usize>,
    named: bool,
    stdin: bool,
    when: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/commands.rs"));

/// How much of a command is read, so that the pass stays linear.
const MAX_WORDS: usize = 48;
const MAX_BYTES: usize = 2048;

/// For each first byte, the lengths of the first parts of names as a bit set: most words are ruled out by one lookup.
static LENGTHS: [u16; 128] = lengths();

const fn lengths() -> [u16; 128] {
    let mut lengths = [0; 128];
    let mut at = 0;
    while at < COMMANDS.len() {
        let name = COMMANDS[at].name.as_bytes();
        let mut length = 0;
        while length < name.len() && name[length].is_ascii_alphanumeric() {
            length += 1;
        }
        lengths[name[0] as usize] |= 1 << length;
        at += 1;
    }
    lengths
}

/// The passwords of the command whose program may begin here, in order. The word is ASCII and not empty.
#[inline]
pub(super) fn passwords_of(bytes: &[u8], from: usize, to: usize) -> Vec<Hit> {
    let lengths = LENGTHS.get(bytes[from] as usize).copied().unwrap_or_default();
    if to - from > 15 || lengths >> (to - from) & 1 == 0 {
        return Vec::new();
    }
    of_program(bytes, from)
}

#[cold]
fn of_program(bytes: &[u8], from: usize) -> Vec<Hit> {
    // A word in the middle of another name is not a program.
    if from > 0 && is(bytes[from - 1], NAME) {
        return Vec::new();
    }
    let end = from + bytes[from..].iter().take(32).take_while(|&&byte| is(byte, NAME)).count();
    let name = &bytes[from..end];
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    let first = COMMANDS.partition_point(|row| row.name.as_bytes() < name);
    let rows = COMMANDS[first..].iter().take_while(|row| row.name.as_bytes() == name);
    let mut line: Option<Line> = None;
    let mut hits: Vec<Hit> = rows
        .flat_map(|row| line.get_or_insert_with(|| Line::after(bytes, from, end)).passwords(row))
        .collect();
    hits.sort_by_key(|hit| hit.start);
    hits.dedup_by(|next, kept| next.start < kept.end);
    hits
}

/// The words of one command after its program, each without its quotes.
struct Line<'t> {
    bytes: &'t [u8],
    from: usize,
    words: Vec<(usize, usize)>,
}

impl<'t> Line<'t> {
    fn after(bytes: &'t [u8], from: usize, end: usize) -> Self {
        let listed = from > 0 && is(bytes[from - 1], QUOTE) && is_at(bytes, end, QUOTE);
        let to = bytes.len().min(end + MAX_BYTES);
        let at = if listed { end + 1 } else { end };
        Self { bytes, from, words: words(&bytes[..to], at, listed) }
    }

    fn text(&self, (start, end): (usize, usize)) -> &'t [u8] {
        &self.bytes[start..end]
    }

    /// The passwords that this row finds.
    fn passwords(&self, row: &Command) -> Vec<Hit> {
        if !row.when.is_empty() && !self.words.iter().any(|&word| gives(self.text(word), row.when)) {
            return Vec::new();
        }
        let mut after = 0;
        for wanted in row.words {
            let is_it =
                |&word: &(usize, usize)| wanted.split('|').any(|one| one.as_bytes() == self.text(word));
            match self.words[after..].iter().position(is_it) {
                Some(found) => after += found + 1,
                None => return Vec::new(),
            }
        }
        let mut hits = Vec::new();
        for (at, &word) in self.words.iter().enumerate() {
            let next = self.words.get(at + 1).copied();
            let value = row.flags.iter().find_map(|flag| value_of(self.text(word), word, flag, next));
            hits.extend(value.and_then(|value| self.hit(value, row, How::Certain)));
        }
        if row.operand.is_some() {
            hits.extend(self.operand(row, after));
        }
        if row.stdin {
            let given = self.here_string().or_else(|| said_before(self.bytes, self.from));
            hits.extend(given.and_then(|value| self.hit(value, row, How::Certain)));
        }
        hits
    }

    fn operand(&self, row: &Command, after: usize) -> Option<Hit> {
        let plain = |&&word: &&(usize, usize)| !self.text(word).starts_with(b"-");
        let operands: Vec<_> = self.words[after..].iter().filter(plain).copied().collect();
        let at = row.operand?.checked_sub(1).unwrap_or(operands.len().checked_sub(1)?);
        let value = *operands.get(at)?;
        if row.named {
            let name = self.text(operands[at - 1]);
            let mut parts = name.split(|byte| b"/:.".contains(byte)).filter(|part| !part.is_empty());
            parts.any(|part| meaning(part).is_some()).then_some(())?;
        }
        self.hit(value, row, How::Loose)
    }

    /// The word after `<<<`.
    fn here_string(&self) -> Option<(usize, usize)> {
        let at = self.words.iter().position(|&word| self.text(word).starts_with(b"<<<"))?;
        let (start, end) = self.words[at];
        if end - start > 3 { Some((start + 3, end)) } else { self.words.get(at + 1).copied() }
    }

    fn hit(&self, (mut start, mut end): (usize, usize), row: &Command, how: How) -> Option<Hit> {
        // Quotes in the middle of a word: `/p:'…'`.
        if end - start >= 2 && is(self.bytes[start], QUOTE) && self.bytes[start] == self.bytes[end - 1] {
            (start, end) = (start + 1, end - 1);
        }
        let value = self.bytes.get(start..end)?;
        if let Some(sign) = row.part {
            let part = value.iter().position(|&byte| byte == sign)? + 1;
            let (name, password) = value.split_at(part);
            let plain = password.len() < 3 || refers(password) || only_words(password) || has_marker(value);
            let named = !value.starts_with(b"http") && name.iter().all(u8::is_ascii_graphic);
            let hit = Hit { start: start + part, end, kind: Kind::BASIC_AUTH };
            return (named && !plain).then_some(hit);
        }
        let certain = Named { meaning: Meaning::Password, kind: Kind::PASSWORD, shouted: false };
        let kind = secret_kind(certain, value, how).filter(|_| !value.starts_with(b"-"))?;
        Some(Hit { start, end, kind })
    }
}

/// Whether the word is this option, alone or as a letter among others.
fn gives(word: &[u8], option: &str) -> bool {
    let option = option.as_bytes();
    if word == option {
        return true;
    }
    let short = option.len() == 2 && word.len() > 2 && word[0] == b'-' && word[1] != b'-';
    short && word[1..].iter().all(u8::is_ascii_alphabetic) && word.contains(&option[1])
}

/// The value that this word or the next one gives to the flag.
fn value_of(
    word: &[u8],
    (start, end): (usize, usize),
    flag: &str,
    next: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let (flag, attached) = match flag.strip_suffix('*') {
        Some(flag) => (flag.as_bytes(), true),
        None => (flag.as_bytes(), false),
    };
    let rest = word.strip_prefix(flag)?;
    let short = flag.len() == 2 && flag[0] == b'-';
    let is_beginning = flag.ends_with(b":") || flag.ends_with(b"=");
    match rest {
        [] if attached || is_beginning => None,
        [] => next,
        [b'=', _, ..] if !short || !attached => Some((start + flag.len() + 1, end)),
        _ if short || is_beginning => Some((start + flag.len(), end)),
        _ => None,
    }
}

/// The words from here to the end of the command. In a list of strings, commas separate them.
fn words(bytes: &[u8], mut at: usize, listed: bool) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        let parts = matches!(byte, b' ' | b'\t') || listed && matches!(byte, b',' | b'\\' | b'\n');
        let continued = byte == b'\\' && bytes.get(at + 1) == Some(&b'\n');
        if parts {
            at += 1;
        } else if continued {
            at += 2;
        } else if words.len() == MAX_WORDS
            || matches!(byte, b'\n' | b';' | b'|' | b'&' | b')' | b']' | b'`')
            || byte == b'\\' && bytes.get(at + 1) == Some(&b'n')
        {
            break;
        } else {
            let (word, end) = word_at(bytes, at);
            if end == at && !listed {
                break;
            }
            words.push(word);
            at = end.max(at + 1);
        }
    }
    words
}

/// The word that begins here, without the quotes around it, and where the next thing begins.
fn word_at(bytes: &[u8], at: usize) -> ((usize, usize), usize) {
    let quoted_to = |from: usize| {
        let quote = bytes[from];
        let close = bytes[from + 1..].iter().position(|&byte| byte == quote || byte == b'\n')?;
        (bytes[from + 1 + close] == quote).then_some(from + 1 + close)
    };
    let ends = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')' | b'`');
    let mut end = at;
    while let Some(&byte) = bytes.get(end).filter(|&&byte| !ends(byte)) {
        if matches!(byte, b'"' | b'\'') {
            match quoted_to(end) {
                Some(close) => end = close + 1,
                // The quote ends the text around the command.
                None => break,
            }
        } else if byte == b'\\' && matches!(bytes.get(end + 1), Some(b'"' | b'n')) {
            break;
        } else {
            end += 1;
        }
    }
    let whole = matches!(bytes[at], b'"' | b'\'') && quoted_to(at).is_some_and(|close| close + 1 == end);
    let word = if whole { (at + 1, end - 1) } else { (at, end) };
    (word, end)
}

/// What `echo` or `printf` writes into the pipe before the program at this position.
fn said_before(bytes: &[u8], program: usize) -> Option<(usize, usize)> {
    let floor = program.saturating_sub(MAX_BYTES);
    let before = &bytes[floor..program];
    let pipe = floor + before.iter().rposition(|&byte| byte == b'|')?;
    // Between the pipe and the program only words like `sudo -u me` may stand.
    let between = &bytes[pipe + 1..program];
    if !between.iter().all(|&byte| is(byte, NAME) || matches!(byte, b' ' | b'/' | b'=')) {
        return None;
    }
    let says = |name: &[u8]| {
        let at = floor + bytes[floor..pipe].windows(name.len()).rposition(|window| window == name)?;
        (at == 0 || !is(bytes[at - 1], NAME)).then_some(at + name.len())
    };
    let said = words(&bytes[..pipe], says(b"echo ").max(says(b"printf "))?, false);
    let (start, end) = *said.last()?;
    // Anything else before the pipe is another command.
    let ends_here = bytes[end..pipe].iter().all(|&byte| is(byte, QUOTE) || byte == b' ');
    (ends_here && !bytes[start..end].starts_with(b"-")).then_some((start, end))
}
