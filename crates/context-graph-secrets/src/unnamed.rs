//! Secrets without a name: a long random word that stands alone.
//!
//! Most long random words are not secrets but hashes, ids and data. So this rule is stricter than the others:
//! it requires capitals, lower-case letters and digits, mixed at random, and no sign that the word is an id or part
//! of something larger.

use super::bytes::{
    ALNUM, BASE64, DASH, DIGIT, DOT, EQUALS, LETTER, LOWER, NAME, PLUS_SLASH, QUOTE, SPACE, UNDERSCORE,
    UPPER, URL_SAFE, all, count, is, is_at, run, run_back,
};
use super::gibberish::is_gibberish;
use super::judge::{alphabet, is_scattered, is_uuid, reads_as_words};
use super::kind::Kind;
use super::names::{Meaning, meaning};
use super::scan::Hit;
use super::standins::made_up;
use super::values::{How, secret_kind};
use super::vendor::built;

/// Shorter words are not examined on their own.
pub(super) const LONG: usize = 12;

/// The length of a secret without a name.
const LENGTHS: std::ops::RangeInclusive<usize> = 32..=80;

const MAX_RUN: usize = 256;

/// The secret that contains the long word `from..to` of letters and digits.
pub(super) fn secret_around(bytes: &[u8], from: usize, to: usize, floor: usize) -> Option<Hit> {
    let word = bytes.get(from..to)?;
    if !word.iter().any(|&byte| is(byte, DIGIT)) {
        return None;
    }
    let wide_from = run_back(bytes, from, URL_SAFE | DOT, MAX_RUN).max(floor);
    let wide_to = run(bytes, to, URL_SAFE | DOT, MAX_RUN);
    let dotted = trim_dots(bytes, wide_from, wide_to);
    if let Some(hit) = built(bytes, wide_from, dotted) {
        return Some(hit);
    }
    let announced_from = run_back(bytes, from, URL_SAFE | DOT | PLUS_SLASH, MAX_RUN).max(floor);
    if let Some(hit) = announced(bytes, announced_from, dotted) {
        return Some(hit);
    }
    let start = run_back(bytes, from, URL_SAFE, MAX_RUN).max(floor);
    let end = run(bytes, to, URL_SAFE, MAX_RUN);
    let value = bytes.get(start..end)?;
    (is_alone(bytes, start, end) && is_drawn(value)).then_some(Hit { start, end, kind: Kind::HIGH_ENTROPY })
}

fn trim_dots(bytes: &[u8], from: usize, to: usize) -> usize {
    let dots = bytes[from..to].iter().rev().take_while(|&&byte| is(byte, DOT)).count();
    to - dots
}

/// A value announced by the words before it, as in `the api key is …` or `set aws_secret_access_key …`.
fn announced(bytes: &[u8], from: usize, to: usize) -> Option<Hit> {
    let mut at = from;
    let mut end = None;
    for _ in 0..3 {
        let gap = bytes.get(at.saturating_sub(4)..at)?;
        let blank = |&&byte: &&u8| matches!(byte, b' ' | b'\t' | b':' | b'"' | b'\'' | b'`');
        let gap = gap.iter().rev().take_while(blank).count();
        let word_to = at - gap;
        let word_from = run_back(bytes, word_to, NAME, 40);
        let word = bytes.get(word_from..word_to)?;
        if gap == 0 || word.is_empty() {
            return None;
        }
        if !matches!(word, b"is" | b"was" | b"this" | b"of" | b"to" | b"set" | b"value") {
            end = Some((word_from, word_to));
            break;
        }
        at = word_from;
    }
    let (word_from, word_to) = end?;
    // A camel-case name before a value means a list of names.
    if bytes[word_from..word_to].windows(2).any(|pair| is(pair[0], LOWER) && is(pair[1], UPPER)) {
        return None;
    }
    let named = meaning(name_with_the_word_before(bytes, word_from, word_to))?;
    if !matches!(named.meaning, Meaning::Secret | Meaning::Token | Meaning::Password) {
        return None;
    }
    let to = run(bytes, to, BASE64, MAX_RUN);
    let value = bytes.get(from..to)?;
    let ended = !is_at(bytes, to, ALNUM) && bytes.get(to) != Some(&b'(');
    let kind = secret_kind(named, value, How::Loose)
        .filter(|_| ended && (is_scattered(value) || is_gibberish(value)))?;
    Some(Hit { start: from, end: to, kind })
}

/// The name `from..to`, together with the word before it if it is vague alone: `api key`, `access token`.
pub(super) fn name_with_the_word_before(bytes: &[u8], from: usize, to: usize) -> &[u8] {
    let name = &bytes[from..to];
    if !name.eq_ignore_ascii_case(b"key") || from == 0 || bytes[from - 1] != b' ' {
        return name;
    }
    let before = run_back(bytes, from - 1, LETTER, 16);
    let word = &bytes[before..from - 1];
    let opens: [&[u8]; 7] = [b"api", b"access", b"secret", b"private", b"auth", b"encryption", b"signing"];
    if opens.iter().any(|opener| word.eq_ignore_ascii_case(opener)) { &bytes[before..to] } else { name }
}

/// Whether it stands between spaces, quotes or brackets, and not in a path, a longer piece of data or a list of
/// lines.
fn is_alone(bytes: &[u8], from: usize, to: usize) -> bool {
    let opened =
        from == 0 || is(bytes[from - 1], SPACE | QUOTE | EQUALS) || b":([,|".contains(&bytes[from - 1]);
    let after = bytes.get(to).copied();
    let closed = after.is_none_or(|byte| is(byte, SPACE | QUOTE) || b",;)]|".contains(&byte));
    opened && closed && !is_identified(bytes, from) && !is_a_line_of_many(bytes, from, to)
}

/// Endings of names for ids, hashes and data.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "id", "ids", "uuid", "guid", "hash", "sha1", "sha256", "sha384", "sha512", "md5", "digest", "checksum", "integrity",
    "etag", "signature", "nonce", "cursor", "commit", "data", "fingerprint", "thumbprint", "h1", "challenge", "pagetoken",
    "page_token", "continuationtoken", "continuation_token", "nexttoken", "next_token", "synctoken", "sync_token",
    "publickey", "public_key", "public-key", "public key", "pubkey",
];

/// Whether a name before it marks it as an id, a hash or data.
fn is_identified(bytes: &[u8], from: usize) -> bool {
    let gap = |byte: u8| is(byte, SPACE | QUOTE | EQUALS) || b":\\".contains(&byte);
    let before = &bytes[from.saturating_sub(6)..from];
    let to = from - before.iter().rev().take_while(|&&byte| gap(byte)).count();
    // Together with the word before it: `public key …`.
    let word = run_back(bytes, to, NAME, 40);
    let word = run_back(bytes, word.saturating_sub(1), NAME, 40);
    let name = bytes[word..to].to_ascii_lowercase();
    to < from && ENDINGS.iter().any(|ending| name.ends_with(ending.as_bytes()))
}

/// Whether the line before or after it is also data: then it is one line of a larger block.
fn is_a_line_of_many(bytes: &[u8], from: usize, to: usize) -> bool {
    const LINE: usize = 24;
    let blank = |&&byte: &&u8| is(byte, SPACE | QUOTE) || b",+\\|>#*".contains(&byte);
    let before = &bytes[from.saturating_sub(32)..from];
    let gap = before.iter().rev().take_while(blank).count();
    let above = from - gap - run_back(bytes, from - gap, BASE64, LINE);
    let after = &bytes[to..bytes.len().min(to + 32)];
    let skip = after.iter().take_while(blank).count();
    let below = run(bytes, to + skip, BASE64, LINE) - (to + skip);
    before[before.len() - gap..].contains(&b'\n') && above >= LINE
        || after[..skip].contains(&b'\n') && below >= LINE
}

/// Whether it is random.
fn is_drawn(value: &[u8]) -> bool {
    let length = value.len();
    let share = |set| count(value, set) * 12 >= length;
    let words = value.split(|&byte| !is(byte, LOWER)).any(|part| part.len() > 8);
    let parts = count(value, DASH | UNDERSCORE);
    // `msg_01…`, `toolu_01…`: a value with a type prefix is an id, and ids must stay readable.
    let id = run(value, 0, LOWER, 16);
    let typed = id >= 2 && is_at(value, id, UNDERSCORE | DASH);
    // Block and wallet addresses leave out the characters that are easily confused.
    let address = length <= 52 && !value.iter().any(|byte| b"0OIl".contains(byte)) && all(value, ALNUM);
    // SSH public keys begin with the length of their type's name.
    let public = value.starts_with(b"AAAA");
    // Names that a compiler mangled.
    let mangled = value.starts_with(b"_Z") || value.starts_with(b"_R");
    LENGTHS.contains(&length)
        && !public
        && !mangled
        && !is_uuid(value)
        && !reads_as_words(value)
        && share(UPPER)
        && share(LOWER)
        && share(DIGIT)
        && parts <= 4
        && !words
        && !typed
        && !address
        && is_mixed(value)
        && alphabet(value) >= 22
        && !made_up(value)
}

/// Whether the class changes at two of five positions or more.
fn is_mixed(value: &[u8]) -> bool {
    let class = |byte: u8| (is(byte, DIGIT), is(byte, LOWER));
    let changes = value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    changes * 5 >= value.len() * 2
}
