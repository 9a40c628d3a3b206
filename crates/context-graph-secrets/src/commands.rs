//! Passwords on command lines: long flags by name, and short flags by the program they belong to.

use super::bytes::{DASH, LETTER, NAME, QUOTE, SPACE, is, is_at, run, starts};
use super::kind::Kind;
use super::marker::has_marker;
use super::names::{Meaning, Named, meaning};
use super::scan::Hit;
use super::standins::{only_words, refers};
use super::values::{Ending, How, Literal, literal_at, secret_kind};

/// The program that the current flags belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Program {
    /// A program whose short flags have no known meaning.
    #[default]
    Other,
    /// `-u name:password`.
    Fetcher,
    /// `-pPASSWORD`, never with a space.
    MySql,
    /// `-p PASSWORD`, with or without a space.
    Prompted,
    /// A program with a `login` command.
    Registry,
    /// `-a PASSWORD`.
    RedisCli,
    /// `-w PASSWORD`.
    Ldap,
    /// `-P PASSWORD`.
    UpperCase,
    /// `-U name%password`.
    Samba,
    /// `pass:PASSWORD`.
    OpenSsl,
}

/// Programs by name.
#[rustfmt::skip]
const PROGRAMS: [(&str, Program); 42] = [
    ("curl", Program::Fetcher), ("wget", Program::Fetcher), ("xh", Program::Fetcher), ("httpie", Program::Fetcher),
    ("mysql", Program::MySql), ("mysqldump", Program::MySql), ("mysqladmin", Program::MySql),
    ("mysqlimport", Program::MySql), ("mariadb", Program::MySql), ("7z", Program::MySql), ("7za", Program::MySql),
    ("sshpass", Program::Prompted), ("mongo", Program::Prompted), ("mongosh", Program::Prompted),
    ("mongodump", Program::Prompted), ("mongorestore", Program::Prompted), ("mongoexport", Program::Prompted),
    ("mongoimport", Program::Prompted),
    ("docker", Program::Registry), ("podman", Program::Registry), ("helm", Program::Registry),
    ("nerdctl", Program::Registry), ("buildah", Program::Registry), ("skopeo", Program::Registry),
    ("crane", Program::Registry), ("az", Program::Registry), ("oc", Program::Registry), ("cf", Program::Registry),
    ("login", Program::Prompted), ("redis", Program::RedisCli),
    ("ldapsearch", Program::Ldap), ("ldapadd", Program::Ldap), ("ldapmodify", Program::Ldap),
    ("ldapwhoami", Program::Ldap), ("ldapdelete", Program::Ldap),
    ("sqlcmd", Program::UpperCase), ("bcp", Program::UpperCase), ("zip", Program::UpperCase),
    ("unzip", Program::UpperCase), ("mosquitto", Program::UpperCase),
    ("smbclient", Program::Samba), ("openssl", Program::OpenSsl),
];

/// For each first byte, the lengths of program names as a bit set: most words are ruled out by one lookup.
static LENGTHS: [u16; 128] = lengths();

const fn lengths() -> [u16; 128] {
    let mut lengths = [0; 128];
    let mut at = 0;
    while at < PROGRAMS.len() {
        let name = PROGRAMS[at].0.as_bytes();
        lengths[name[0] as usize] |= 1 << name.len();
        at += 1;
    }
    lengths
}

/// The program of this word, if it names one. The word is ASCII and not empty.
#[inline]
pub(super) fn program_after(word: &[u8], rest: &[u8], now: Program) -> Program {
    let lengths = LENGTHS.get(word[0] as usize).copied().unwrap_or_default();
    if word.len() > 15 || lengths >> word.len() & 1 == 0 {
        return now;
    }
    match (PROGRAMS.iter().find(|(name, _)| name.as_bytes() == word), word) {
        (Some(_), b"login") if now != Program::Registry => now,
        (Some(_), b"redis") if !rest.starts_with(b"-cli") => now,
        (Some(&(_, program)), _) => program,
        (None, _) => now,
    }
}

/// The secret given to the flag whose first dash is at this position.
pub(super) fn flag_at(bytes: &[u8], at: usize, program: Program) -> Option<Hit> {
    let name_from = at + 1 + usize::from(is_at(bytes, at + 1, DASH));
    if !is_at(bytes, name_from, LETTER) {
        return None;
    }
    let name_to = run(bytes, name_from, NAME, 65);
    let name = bytes.get(name_from..name_to)?;
    if let Some(hit) = short_flag(bytes, at, name, program) {
        return Some(hit);
    }
    if name.len() < 4 {
        return None;
    }
    if program == Program::Fetcher && matches!(name, b"user" | b"proxy-user") {
        return user_and_password(bytes, argument_at(bytes, name_to)?, b':');
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

/// The password given to a one-letter flag.
fn short_flag(bytes: &[u8], at: usize, name: &[u8], program: Program) -> Option<Hit> {
    let letter = *name.first()?;
    if bytes.get(at + 1) == Some(&b'-') {
        return None;
    }
    let password = matches!(
        (program, letter),
        (Program::MySql | Program::Prompted, b'p')
            | (Program::RedisCli, b'a')
            | (Program::Ldap, b'w')
            | (Program::UpperCase, b'P')
    );
    if !password {
        let parting = match (program, letter) {
            (Program::Fetcher, b'u') => b':',
            (Program::Samba, b'U') => b'%',
            _ => return None,
        };
        let literal = literal_at(bytes, at + 2, Ending::Usual)?;
        return user_and_password(bytes, literal, parting);
    }
    let attached = !is_at(bytes, at + 2, SPACE);
    if program == Program::MySql && !attached {
        return None;
    }
    let literal = literal_at(bytes, at + 2, Ending::Usual)?;
    let value = bytes.get(literal.start..literal.end)?;
    let certain = Named { meaning: Meaning::Password, kind: Kind::PASSWORD, shouted: false };
    let kind = secret_kind(certain, value, How::Certain).filter(|_| !value.starts_with(b"-"))?;
    Some(Hit { start: literal.start, end: literal.end, kind })
}

/// The password in `name:password`.
fn user_and_password(bytes: &[u8], literal: Literal, parting: u8) -> Option<Hit> {
    let value = bytes.get(literal.start..literal.end)?;
    let part = value.iter().position(|&byte| byte == parting)?;
    let password = &value[part + 1..];
    let plain = password.len() < 3 || refers(password) || only_words(password) || has_marker(value);
    let named = !value.starts_with(b"http") && value[..part].iter().all(|&byte| byte.is_ascii_graphic());
    (named && !plain).then_some(Hit {
        start: literal.start + part + 1,
        end: literal.end,
        kind: Kind::BASIC_AUTH,
    })
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
