//! Credentials in headers: `Authorization: Bearer …`, `Basic …`, and the same schemes anywhere else.

use super::bytes::{ALNUM, BASE64, DASH, DIGIT, NAME, QUOTE, UNDERSCORE, is, is_at, run};
use super::judge::{is_random, is_scattered, is_uuid};
use super::kind::Kind;
use super::scan::Hit;
use super::standins::{is_member, made_up, only_words};
use super::vendor::{decode, is_basic, kind_of};

const MAX_CREDENTIAL: usize = 8 * 1024;

/// The characters of a credential.
const CREDENTIAL: super::bytes::Set = NAME | BASE64;

/// The credential in the value of an `Authorization` header that begins here.
pub(super) fn credential_after(bytes: &[u8], from: usize) -> Option<Hit> {
    let mut at = from;
    let skipped =
        |byte: u8| byte == b' ' || byte == b'\t' || byte == b'\\' || byte == b'=' || is(byte, QUOTE);
    while at < from + 12 && bytes.get(at).is_some_and(|&byte| skipped(byte)) {
        at += 1;
    }
    let word = run(bytes, at, ALNUM | DASH, 24);
    if bytes.get(word) == Some(&b' ') && word > at {
        let start = word + 1;
        let (end, signs) = credential_end(bytes, start);
        return judged(bytes.get(at..word)?, bytes.get(start..end)?, signs).map(|kind| Hit {
            start,
            end,
            kind,
        });
    }
    let (end, signs) = credential_end(bytes, at);
    let value = bytes.get(at..end)?;
    let raw = signs && value.len() >= 16 && (is_random(value) || kind_of(value).is_some()) && !made_up(value);
    raw.then(|| Hit { start: at, end, kind: kind_of(value).unwrap_or(Kind::AUTHORIZATION) })
}

/// Where the credential ends, and whether it is complete and does not continue as a template or code.
fn credential_end(bytes: &[u8], start: usize) -> (usize, bool) {
    let mut end = run(bytes, start, CREDENTIAL, MAX_CREDENTIAL);
    while bytes.get(end).is_some_and(|byte| b":~".contains(byte)) {
        end = run(bytes, end + 1, CREDENTIAL, MAX_CREDENTIAL);
    }
    (end, !bytes.get(end).is_some_and(|byte| b"{$<([*%".contains(byte)))
}

fn judged(scheme: &[u8], value: &[u8], signs: bool) -> Option<Kind> {
    if !signs || value.len() < 8 || made_up(value) || only_words(value) || is_member(value) {
        return None;
    }
    if scheme.eq_ignore_ascii_case(b"basic") {
        return is_real_basic(value).then_some(Kind::BASIC_AUTH);
    }
    let random = is_random(value) || is_uuid(value) || value.iter().any(|&byte| is(byte, DIGIT));
    let kind = if scheme.eq_ignore_ascii_case(b"bearer") { Kind::BEARER } else { Kind::AUTHORIZATION };
    random.then(|| kind_of(value).unwrap_or(kind))
}

fn is_real_basic(value: &[u8]) -> bool {
    let decoded = decode(value);
    let password = decoded.iter().position(|&byte| byte == b':').and_then(|colon| decoded.get(colon + 1..));
    is_basic(value) && password.is_some_and(|password| !only_words(password))
}

/// The credential after a scheme that stands alone in the text and ends just before this position.
pub(super) fn credential_of_scheme(bytes: &[u8], scheme: &[u8], after: usize) -> Option<Hit> {
    if bytes.get(after) != Some(&b' ') {
        return None;
    }
    let start = after + 1;
    let (end, signs) = credential_end(bytes, start);
    let value = bytes.get(start..end)?;
    let kind = judged(scheme, value, signs)?;
    let basic = kind == Kind::BASIC_AUTH;
    (basic || value.len() >= 16 && is_random(value)).then_some(Hit { start, end, kind })
}

/// The value of the cookie whose `=` is at this position.
pub(super) fn cookie_at(bytes: &[u8], equals: usize) -> Option<Hit> {
    let start = equals + 1;
    let rest = bytes.get(start..)?;
    let within = |byte: u8| is(byte, CREDENTIAL | UNDERSCORE) || b"%:|!*~".contains(&byte);
    let length = rest.iter().take(MAX_CREDENTIAL).position(|&byte| !within(byte)).unwrap_or(rest.len());
    let value = rest.get(..length)?;
    let random =
        value.len() >= 16 && (is_random(value) || is_uuid(value)) && is_scattered(value) && !made_up(value);
    let ended = !is_at(bytes, start + length, super::bytes::LETTER);
    (random && ended).then(|| Hit {
        start,
        end: start + length,
        kind: kind_of(value).unwrap_or(Kind::COOKIE),
    })
}
