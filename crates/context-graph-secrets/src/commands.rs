//! Passwords after a word that names them: long flags, sentences, SQL, a `.netrc`.

use super::bytes::{DASH, LETTER, NAME, QUOTE, SPACE, is, is_at, run, starts};
use super::kind::Kind;
use super::names::{Meaning, Named, meaning};
use super::scan::Hit;
use super::values::{Ending, How, Literal, literal_at, secret_kind};

/// The secret given to the flag whose first dash is at this position.
pub(super) fn flag_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let name_from = at + 1 + usize::from(is_at(bytes, at + 1, DASH));
    if !is_at(bytes, name_from, LETTER) {
        return None;
    }
    let name_to = run(bytes, name_from, NAME, 65);
    let name = bytes.get(name_from..name_to)?;
    if name.len() < 4 {
        return None;
    }
    let named = meaning(name)?;
    let literal = argument_at(bytes, name_to)?;
    let how = if literal.quoted { How::Quoted { assigned: true } } else { How::Loose };
    let value = bytes.get(literal.start..literal.end)?;
    let kind = secret_kind(named, value, how).filter(|_| !value.starts_with(b"-"))?;
    Some(Hit { start: literal.start, end: literal.end, kind })
}

/// The argument after a flag that ends here: on a command line, or as the next string in a list.
fn argument_at(bytes: &[u8], flag_end: usize) -> Option<Literal> {
    let escapes = bytes.get(flag_end..)?.iter().take(8).take_while(|&&byte| byte == b'\\').count();
    let mut at = flag_end + escapes;
    if is_at(bytes, at, QUOTE) {
        at += 1;
        at += usize::from(bytes.get(at) == Some(&b','));
    } else if bytes.get(at) == Some(&b'=') {
        at += 1;
    } else if !matches!(bytes.get(at), Some(b' ' | b'\t')) {
        return None;
    }
    literal_at(bytes, at, Ending::Usual)
}

/// The password after a word for it, in a sentence, an SQL statement or a `.netrc`: `password is …`,
/// `PASSWORD '…'`, `IDENTIFIED BY '…'`, `login me password …`.
pub(super) fn spoken_after(bytes: &[u8], word_from: usize, word_to: usize) -> Option<Hit> {
    let word = bytes.get(word_from..word_to)?;
    let mut from = word_to;
    let mut kind = Kind::PASSWORD;
    let mut how = How::Loose;
    if word.eq_ignore_ascii_case(b"identified") {
        from = [" BY ", " by "]
            .iter()
            .find(|by| starts(bytes, word_to, by.as_bytes()))
            .map(|by| word_to + by.len())?;
    } else if let Some(is) =
        [" is ", " is: ", " was ", " to "].iter().find(|is| starts(bytes, word_to, is.as_bytes()))
    {
        from += is.len();
    } else if in_netrc(bytes, word_from) {
        (kind, how) = (Kind::NETRC, How::Certain);
    } else if !starts(bytes, word_to, b" '") {
        return None;
    }
    let literal = literal_at(bytes, from, Ending::Usual)?;
    let value = bytes.get(literal.start..literal.end)?;
    if literal.quoted {
        // Text marked as code is rarely the password that the sentence is about.
        how = if bytes[literal.start - 1] == b'`' { How::Loose } else { How::Quoted { assigned: true } };
    }
    let named = Named { meaning: Meaning::Password, kind, shouted: false };
    let kind = secret_kind(named, value, how)?;
    Some(Hit { start: literal.start, end: literal.end, kind })
}

/// Whether a host and a login name come just before, as in a `.netrc`.
fn in_netrc(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(at.saturating_sub(160)..at).unwrap_or(&[]);
    let mut words = before.split(|&byte| is(byte, SPACE)).rev().filter(|word| !word.is_empty());
    let mut beside = false;
    words.by_ref().take(6).any(|word| {
        beside |= word.ends_with(b"login");
        beside && (word.ends_with(b"machine") || word.ends_with(b"default"))
    })
}
