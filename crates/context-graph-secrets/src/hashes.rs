//! Stored passwords: hashes in `shadow` and `htpasswd`, and the lines of `.pgpass`.

use super::bytes::{ALNUM, BASE64, DIGIT, EQUALS, NAME, all, is, is_at, run, run_back};
use super::judge::alphabet;
use super::kind::Kind;
use super::scan::Hit;
use super::standins::made_up;

/// Names of hash algorithms, as they appear between the first two dollar signs.
const WAYS: &[&[u8]] = &[
    b"1",
    b"2a",
    b"2b",
    b"2x",
    b"2y",
    b"5",
    b"6",
    b"7",
    b"y",
    b"gy",
    b"sha1",
    b"apr1",
    b"argon2d",
    b"argon2i",
    b"argon2id",
    b"scrypt",
    b"pbkdf2-sha256",
    b"pbkdf2-sha512",
];

/// The hash that begins with the dollar sign at this position: `$6$salt$hash`.
pub(super) fn hash_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let way_to = run(bytes, at + 1, NAME, 16);
    if bytes.get(way_to) != Some(&b'$') || !WAYS.contains(&bytes.get(at + 1..way_to)?) {
        return None;
    }
    let part = |byte: &&u8| is(**byte, NAME | BASE64 | EQUALS) || b"$,".contains(byte);
    let length = bytes[way_to..].iter().take(400).take_while(part).count();
    let end = way_to + length;
    let hash = bytes[way_to + 1..end].rsplit(|&byte| byte == b'$').next()?;
    let drawn = hash.len() >= 22 && alphabet(hash) >= 12 && !made_up(hash);
    drawn.then_some(Hit { start: at, end, kind: Kind::PASSWORD_HASH })
}

/// The digest after `{SHA}`, as in `htpasswd`; the word is `from..to`.
pub(super) fn digest_after(bytes: &[u8], from: usize, to: usize) -> Option<Hit> {
    let braced = from > 0 && bytes[from - 1] == b'{' && bytes.get(to) == Some(&b'}');
    let end = run(bytes, to + 1, BASE64, 128);
    let digest = bytes.get(to + 1..end).filter(|digest| braced && digest.len() >= 28)?;
    (alphabet(digest) >= 12).then_some(Hit { start: to + 1, end, kind: Kind::PASSWORD_HASH })
}

/// The password in a line of `.pgpass`, `host:port:database:user:password`; the colon is the first one.
pub(super) fn pgpass_at(bytes: &[u8], colon: usize) -> Option<Hit> {
    let from = run_back(bytes, colon, NAME, 80);
    let host = bytes.get(from..colon)?;
    let is_host = host == b"localhost" || host.contains(&b'.') && !all(host, DIGIT);
    let host_begins = from == 0 || matches!(bytes[from - 1], b'\n' | b'\t' | b' ' | b'"' | b'\'');
    let starred = host.is_empty() && colon > 0 && bytes[colon - 1] == b'*';
    if !(is_host && host_begins || starred) {
        return None;
    }
    let line = &bytes[colon..bytes.len().min(colon + 300)];
    let end = line.iter().position(|byte| b" \t\r\n\"'`\\".contains(byte)).unwrap_or(line.len());
    let mut parts = line[1..end].splitn(4, |&byte| byte == b':');
    let (port, database, user, password) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_port = port == b"*" || (2..=5).contains(&port.len()) && all(port, DIGIT);
    let named = |part: &[u8]| part == b"*" || is_at(part, 0, ALNUM) && !all(part, DIGIT);
    let fits = is_port && named(database) && named(user) && password.len() >= 6;
    let start = colon + end - password.len();
    (fits && !made_up(password)).then_some(Hit { start, end: colon + end, kind: Kind::PASSWORD })
}
