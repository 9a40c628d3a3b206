//! The value that follows a name, and whether it is a secret.

use super::bytes::{
    DASH, DIGIT, DOT, EQUALS, LETTER, LOWER, NAME, QUOTE, SPACE, UNDERSCORE, UPPER, all, find, is, is_at,
    run, starts,
};
use super::gibberish::is_gibberish;
use super::judge::{is_random, is_uuid, reads_as_words};
use super::kind::Kind;
use super::marker::has_marker;
use super::names::{Meaning, Named};
use super::passphrase::is_passphrase;
use super::standins::{is_member, is_number, is_prose, made_up, only_words, refers};
use super::vendor::{is_basic, kind_of};

/// The longest value that is examined.
const MAX_QUOTED: usize = 4096;
const MAX_BARE: usize = 1024;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Between quotes. `assigned` if it follows `=`, which does not occur in tables of translated texts.
    Quoted { assigned: bool },
    /// Directly after the `=` or `:`, as in `NAME=value`.
    Tight,
    /// After a space: `name: value`, `--name value`.
    Loose,
    /// After a flag that can only take a password.
    Certain,
    /// In a connection string: `;Password=value;`.
    Part,
}

/// What ends an unquoted value, besides a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The end of an argument, an item or a statement.
    Usual,
    /// Only the end of the line, as in an `.env` file.
    Line,
    /// The separator in a connection string.
    Semicolon,
}

/// The position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Literal {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

/// The value that begins here, after any spaces.
pub(super) fn literal_at(bytes: &[u8], from: usize, ending: Ending) -> Option<Literal> {
    let at = run_blank(bytes, from);
    quoted_at(bytes, at).or_else(|| bare_at(bytes, at, ending))
}

/// The value on the next line: in YAML after `name: |` and `name: >-`, or a long line after `name:`.
pub(super) fn below_at(bytes: &[u8], from: usize) -> Option<Literal> {
    let at = run_blank(bytes, from);
    let sign = bytes.get(at..)?.iter().take(3).take_while(|byte| b"|>+-".contains(byte)).count();
    let line = run(bytes, at + sign, SPACE, 64);
    let broken = bytes.get(at + sign..line)?.contains(&b'\n');
    let literal = literal_at(bytes, line, Ending::Usual).filter(|_| broken)?;
    // The start of another name, a list or a comment is not a value.
    let ends = bytes
        .get(literal.end + usize::from(literal.quoted))
        .is_none_or(|&byte| is(byte, SPACE) || byte == b',');
    (ends && !matches!(bytes.get(line), Some(b'-' | b'#'))).then_some(literal)
}

fn run_blank(bytes: &[u8], from: usize) -> usize {
    let blank = |&&byte: &&u8| byte == b' ' || byte == b'\t';
    from + bytes.get(from..).unwrap_or(&[]).iter().take(32).take_while(blank).count()
}

/// The text between quotes here. The quotes may be escaped once or more, as in JSON inside JSON. A letter
/// before them (`b"…"`, `f"…"`) or a simple constructor around them does not matter.
fn quoted_at(bytes: &[u8], at: usize) -> Option<Literal> {
    let wrapped = run(bytes, at, NAME, 32);
    let at = if wrapped - at <= 2 && is_at(bytes, wrapped, QUOTE) {
        wrapped
    } else {
        constructor(bytes, at).unwrap_or(at)
    };
    let escapes = bytes.get(at..)?.iter().take(8).take_while(|&&byte| byte == b'\\').count();
    let quote = *bytes.get(at + escapes).filter(|&&byte| is(byte, QUOTE))?;
    let start = at + escapes + 1;
    if escapes == 0 && bytes.get(start..start + 2) == Some(&[quote, quote]) {
        return between_three(bytes, start + 2, quote);
    }
    let mut backslashes = 0;
    for (offset, &byte) in bytes.get(start..)?.iter().take(MAX_QUOTED).enumerate() {
        let closes = if escapes == 0 { backslashes % 2 == 0 } else { backslashes == escapes };
        match byte {
            _ if byte == quote && closes => {
                return Some(Literal { start, end: start + offset - escapes.min(backslashes), quoted: true });
            }
            b'\n' => return None,
            b'\\' => backslashes += 1,
            _ => backslashes = 0,
        }
    }
    None
}

/// The text between triple quotes, trimmed.
fn between_three(bytes: &[u8], from: usize, quote: u8) -> Option<Literal> {
    let rest = bytes.get(from..bytes.len().min(from + MAX_QUOTED))?;
    let to = from + find(rest, &[quote; 3])?;
    let inner = bytes.get(from..to)?;
    let start = from + inner.iter().take_while(|&&byte| is(byte, SPACE)).count();
    let end = to - inner.iter().rev().take_while(|&&byte| is(byte, SPACE)).count();
    (start < end).then_some(Literal { start, end, quoted: true })
}

/// The position of the quotes in `String::from("…")` and similar calls.
fn constructor(bytes: &[u8], at: usize) -> Option<usize> {
    const CONSTRUCTORS: [&[u8]; 6] =
        [b"String::from(", b"Some(", b"SecretString::from(", b"SecretString::new(", b"Secret::new(", b"str("];
    let found = CONSTRUCTORS.iter().find(|constructor| starts(bytes, at, constructor))?;
    Some(at + found.len())
}

/// The text from here up to a space or another character that ends it.
fn bare_at(bytes: &[u8], at: usize, ending: Ending) -> Option<Literal> {
    let ends = |offset: usize, byte: u8| match byte {
        b'"' | b'\'' | b'`' | b'<' | b'>' => true,
        b'\\' => matches!(bytes.get(at + offset + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')),
        b',' | b'|' | b')' | b'}' | b']' => ending == Ending::Usual,
        b';' => ending != Ending::Line,
        b'&' => {
            ending == Ending::Usual
                || bytes.get(at + offset + 1) == Some(&b'&')
                || names_next(bytes, at + offset)
        }
        _ => is(byte, SPACE) || byte < b' ',
    };
    let rest = bytes.get(at..)?;
    let mut length = rest.iter().take(MAX_BARE).enumerate().position(|(offset, &byte)| ends(offset, byte));
    if rest.len() < MAX_BARE {
        length = length.or(Some(rest.len()));
    }
    let mut end = at + length?;
    while end > at && matches!(bytes[end - 1], b',' | b';' | b'.' | b':' | b'?') {
        end -= 1;
    }
    (end > at).then_some(Literal { start: at, end, quoted: false })
}

/// Whether another name follows the `&`, as in a form body.
fn names_next(bytes: &[u8], ampersand: usize) -> bool {
    let name = run(bytes, ampersand + 1, NAME, 32);
    name > ampersand + 1 && is_at(bytes, name, EQUALS)
}

/// The kind of the value if it is a secret.
pub(super) fn secret_kind(named: Named, value: &[u8], how: How) -> Option<Kind> {
    if !is_secret(named, value, how) {
        return None;
    }
    Some(kind_of(value).unwrap_or(named.kind))
}

fn is_secret(named: Named, value: &[u8], how: How) -> bool {
    let long_enough = value.len() >= if matches!(how, How::Certain | How::Part) { 3 } else { 4 };
    if !long_enough
        || value.len() > MAX_QUOTED
        || has_marker(value)
        || refers(value)
        || only_words(value)
        || is_number(value)
    {
        return false;
    }
    match named.meaning {
        Meaning::Password => is_password(named, value, how),
        Meaning::QuotedPassword => {
            let written =
                how != How::Loose && !value.starts_with(b"/") && !value.iter().any(|&byte| is(byte, SPACE));
            written && value.len() >= 6 && signed(value) && is_password(named, value, how)
        }
        Meaning::Secret => is_token(value, how) || is_chosen(named, value, how),
        Meaning::Token => is_token(value, how) || named.kind == Kind::CREDENTIAL && is_basic(value),
        Meaning::Authorization | Meaning::Cookie => false,
    }
}

/// A token, or a random secret.
fn is_token(value: &[u8], how: How) -> bool {
    let signs = value.iter().all(|&byte| byte.is_ascii_graphic() && !b"(){}<>\"'`\\;".contains(&byte));
    // After a space, an unquoted value of letters and underscores is a name in code, unless it is gibberish.
    let name = how == How::Loose && all(value, LETTER | UNDERSCORE) && !is_gibberish(value);
    if !signs || name || made_up(value) || is_member(value) {
        return false;
    }
    is_uuid(value) || is_random(value)
}

/// A secret chosen by a person: only if the name leaves no doubt.
fn is_chosen(named: Named, value: &[u8], how: How) -> bool {
    let set = matches!(how, How::Tight | How::Quoted { .. });
    let plain = value.iter().all(|&byte| byte.is_ascii_graphic() && !b"(){}[]<>\"'`\\;,|".contains(&byte));
    named.shouted && set && plain && value.len() >= 8 && !made_up(value) && !is_member(value)
}

fn is_password(named: Named, value: &[u8], how: How) -> bool {
    if made_up(value) || is_member(value) {
        return false;
    }
    let worded = all(value, LETTER | DASH | UNDERSCORE | DOT | SPACE);
    let one_word = all(value, LETTER);
    match how {
        How::Certain => !value.contains(&b'('),
        How::Part => true,
        How::Quoted { .. } if value.iter().any(|&byte| is(byte, SPACE)) => {
            let chosen = named.shouted && value.iter().any(|&byte| is(byte, DIGIT));
            is_passphrase(value)
                || value.len() <= 64
                    && (chosen || !is_prose(value))
                    && !value.iter().any(|byte| b"(={&|;/<".contains(byte))
        }
        How::Quoted { assigned } if worded => value.len() >= 6 && (named.shouted || assigned && one_word),
        How::Quoted { .. } => {
            !(value.contains(&b'|') || value.contains(&b'[')) && (signed(value) || drawn(value))
        }
        How::Tight if named.shouted => !value.contains(&b'(') && !value.contains(&b'['),
        How::Tight | How::Loose => {
            let bare = trimmed(value);
            let code = bare.iter().any(|byte| b"()[]{}<>|*+=/\\".contains(byte)) && !is_strong(bare);
            let constant = all(bare, UPPER | DIGIT | UNDERSCORE) && bare.contains(&b'_');
            bare.len() >= 6 && !code && !constant && !only_words(bare) && (signed(bare) || is_gibberish(bare))
        }
    }
}

/// Whether it mixes letters with digits or punctuation, or is a number of 6 to 12 digits.
fn signed(value: &[u8]) -> bool {
    let letters = value.iter().any(|&byte| is(byte, LETTER) || !byte.is_ascii());
    let digits = value.iter().any(|&byte| is(byte, DIGIT));
    let signs = value.iter().any(|byte| b"!@#$%^&*~+=?".contains(byte));
    letters && (digits || signs) || value.len() >= 6 && all(value, DIGIT) && value.len() <= 12
}

/// Whether it is long enough and random.
fn drawn(value: &[u8]) -> bool {
    value.len() >= 10 && (is_gibberish(value) || is_random(value)) && !reads_as_words(value)
}

/// Whether it has letters of both cases and digits, and no brackets: then `+` or `*` in it does not make it code.
fn is_strong(value: &[u8]) -> bool {
    let has = |set| value.iter().any(|&byte| is(byte, set));
    let groups = value.iter().any(|byte| b"()[]{}<>|\\".contains(byte));
    value.len() >= 10 && has(UPPER) && has(LOWER) && has(DIGIT) && !groups
}

/// The value without the punctuation of types and parameters at its ends.
fn trimmed(value: &[u8]) -> &[u8] {
    let start = value.iter().position(|byte| !b"&*!@:#".contains(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !b"?!;,.:".contains(byte)).map_or(start, |last| last + 1);
    value.get(start..end.max(start)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::super::names::meaning;
    use super::*;

    fn found<'t>(text: &'t str, how: How, name: &str) -> Option<&'t str> {
        let literal = literal_at(text.as_bytes(), 0, Ending::Usual)?;
        let value = &text[literal.start..literal.end];
        secret_kind(meaning(name.as_bytes())?, value.as_bytes(), how).map(|_| value)
    }

    #[test]
    fn values_end_where_their_quotes_do() {
        let of = |text: &str| {
            literal_at(text.as_bytes(), 0, Ending::Usual).map(|at| text[at.start..at.end].to_owned())
        };
        assert_eq!(of("  \"a b\" c").as_deref(), Some("a b"));
        assert_eq!(of("\\\"a b\\\", \\\"c\\\"").as_deref(), Some("a b"));
        assert_eq!(of("'it\\'s' x").as_deref(), Some("it\\'s"));
        assert_eq!(of("b\"abc\"").as_deref(), Some("abc"));
        assert_eq!(of("String::from(\"abc\")").as_deref(), Some("abc"));
        assert_eq!(of("abc, d").as_deref(), Some("abc"));
        assert_eq!(of("abc\\nd").as_deref(), Some("abc"));
        assert_eq!(of("\"never closed"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn passwords_are_told_from_words_and_code() {
        let quoted = How::Quoted { assigned: false };
        assert!(found("\"hunter2\"", quoted, "password").is_some());
        assert!(found("swordfish", How::Tight, "DB_PASSWORD").is_some());
        assert!(found("\"swordfish\"", How::Quoted { assigned: true }, "password").is_some());
        for text in ["5+7nYV7zXzDkm0guFcrnUA==", "ByAeEmF7D+2n4WR3lv8C", "K+qO0CqCoXWTDyM3zTeUxQ=="] {
            assert!(found(text, How::Loose, "password").is_some(), "{text}");
            assert!(found(text, How::Tight, "password").is_some(), "{text}");
        }
        for text in ["\"Enter your password\"", "\"required\"", "\"${PASSWORD}\"", "\"test123\"", "\"\""] {
            assert_eq!(found(text, quoted, "password"), None, "{text}");
        }
        for text in [
            "str",
            "a/b+c",
            "String!",
            "request.password",
            "get_password()",
            "Option<String>",
            "None",
            "*string",
        ] {
            assert_eq!(found(text, How::Loose, "password"), None, "{text}");
        }
    }
}
