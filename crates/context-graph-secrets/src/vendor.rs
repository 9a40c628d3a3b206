//! Tokens recognised by their format: those with a prefix, and the few with a special structure.

use super::bytes::{
    ALNUM, BASE64, DASH, DIGIT, DOT, HEX, SPACE, UNDERSCORE, URL_SAFE, all, find, is, is_at, run, run_back,
    starts,
};
use super::judge::{is_body, is_scattered, is_uuid, reads_as_words};
use super::kind::Kind;
use super::scan::Hit;
use super::shapes::beginning_at;
use super::standins::made_up;

/// The token that begins here. The caller has checked that a word begins here.
pub(super) fn token_at(bytes: &[u8], at: usize) -> Option<Hit> {
    beginning_at(bytes, at).iter().find_map(|shape| {
        let prefix = shape.prefix.as_bytes();
        if !starts(bytes, at, prefix) {
            return None;
        }
        let from = at + prefix.len();
        let mut end = run(bytes, from, shape.body, shape.length.1 + 1);
        while end > from && is(bytes[end - 1], DOT) {
            end -= 1;
        }
        let body = bytes.get(from..end)?;
        let fits = (shape.length.0..=shape.length.1).contains(&body.len());
        // If letters or digits follow, it is something else that starts the same way.
        let ends = !is_at(bytes, end, ALNUM | UNDERSCORE);
        // A prefix that is short or ends in a letter or digit may also begin a name in code.
        let telling = prefix.len() >= 4 && !is_at(prefix, prefix.len() - 1, ALNUM);
        let drawn = if shape.address {
            leads_to_secret(body)
        } else {
            is_body(body) && (telling || !reads_as_words(body))
        };
        let start = if shape.address { from } else { at };
        (fits && ends && drawn && !made_up(body)).then_some(Hit { start, end, kind: shape.kind })
    })
}

/// Whether the path of a URL has a part that cannot be guessed.
fn leads_to_secret(path: &[u8]) -> bool {
    let drawn = |part: &[u8]| part.len() >= 16 && is_body(part) || is_uuid(part);
    let mut parts = path.split(|&byte| !is(byte, URL_SAFE));
    let numbered = |part: &[u8]| part.len() >= 6 && all(part, DIGIT);
    let short = |part: &[u8]| part.len() >= 6 && all(part, ALNUM) && part.iter().any(|&byte| is(byte, DIGIT));
    parts.clone().any(drawn) || parts.next().is_some_and(numbered) && parts.next().is_some_and(short)
}

/// The token that begins inside the word `from..to`, directly after letters that do not belong to it. Only
/// prefixes that reach beyond the word are tried, and not those that ordinary words end in.
pub(super) fn token_within(bytes: &[u8], from: usize, to: usize) -> Option<Hit> {
    if !is_at(bytes, to, UNDERSCORE | DASH | DOT) {
        // An AWS key id has no separator. Its fixed length and the lower-case letter before it show where it begins.
        let at = to.checked_sub(20).filter(|&at| at > from && bytes[at - 1].is_ascii_lowercase())?;
        return (starts(bytes, at, b"AKIA") || starts(bytes, at, b"ASIA")).then(|| token_at(bytes, at))?;
    }
    (from + 1..to).rev().take(MAX_PREFIX).find_map(|at| {
        let is_telling = |prefix: &str| {
            prefix.len() > (to - at).max(3) && !matches!(prefix, "key-" | "ico-" | "pul-" | "API-")
        };
        let fits = |prefix: &str| is_telling(prefix) && starts(bytes, at, prefix.as_bytes());
        beginning_at(bytes, at).iter().any(|shape| fits(shape.prefix)).then(|| token_at(bytes, at))?
    })
}

/// The longest part of a prefix before its first separator.
const MAX_PREFIX: usize = 10;

/// The JSON Web Token that begins here: three parts; the first two are JSON in Base64.
pub(super) fn web_token_at(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts(bytes, at, b"eyJ") {
        return None;
    }
    let header = run(bytes, at, URL_SAFE, 1024);
    if header - at < 12 || !starts(bytes, header, b".ey") {
        return None;
    }
    let mut end = header;
    let mut parts = 1;
    while is_at(bytes, end, DOT) && parts < 5 && (is_at(bytes, end + 1, URL_SAFE) || parts == 2) {
        end = run(bytes, end + 1, URL_SAFE, 16 * 1024);
        parts += 1;
    }
    (parts >= 3 && !made_up(&bytes[at..header])).then_some(Hit { start: at, end, kind: Kind::JWT })
}

/// A private key in Base64 on one line, as in a kubeconfig.
pub(super) fn wrapped_key_at(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts(bytes, at, b"LS0tLS1CRUdJTi") {
        return None;
    }
    let end = run(bytes, at, BASE64, 64 * 1024);
    let head = decode(bytes.get(at..(at + 64).min(end))?);
    find(&head, b"PRIVATE KEY").map(|_| Hit { start: at, end, kind: Kind::CLIENT_KEY })
}

/// The token with a special structure that contains this long word; `from..to` is the whole run around it.
pub(super) fn built(bytes: &[u8], from: usize, to: usize) -> Option<Hit> {
    let whole = bytes.get(from..to)?;
    let lengths = |parting: u8| {
        let mut parts = whole.split(move |&byte| byte == parting).map(<[u8]>::len);
        (parts.next(), parts.next(), parts.next(), parts.next())
    };
    let kind = match (lengths(b'.'), lengths(b'-')) {
        ((Some(22..=28), Some(6..=7), Some(27..=40), None), _) if matches!(whole[0], b'M' | b'N' | b'O') => {
            Kind::DISCORD
        }
        ((Some(17), Some(64), None, _), _) if whole.starts_with(b"pat") && all(&whole[18..], HEX) => {
            Kind::AIRTABLE
        }
        ((Some(3), Some(20..=24), Some(24), Some(20)), _) if matches!(&whole[..3], b"pat" | b"sat") => {
            Kind::HARNESS
        }
        ((Some(14), Some(7), Some(60..), None), _) if find(whole, b".atlasv1.").is_some() => {
            Kind::TERRAFORM_CLOUD
        }
        _ if whole.len() == 40 && whole.ends_with(b"NRAL") && all(&whole[..36], HEX) => Kind::NEW_RELIC,
        _ if whole.len() == 50 && &whole[10..13] == b"msh" && &whole[36..39] == b"jsn" => Kind::RAPIDAPI,
        _ if whole.len() == 84 && &whole[76..80] == b"AZDO" => Kind::AZURE_DEVOPS,
        (_, (Some(32), Some(8), Some(8), None)) if all(&whole[..32], HEX) => Kind::MAILGUN,
        (_, (Some(32), Some(3..=4), None, _))
            if all(&whole[..32], HEX) && whole[33..].starts_with(b"us") && all(&whole[35..], DIGIT) =>
        {
            Kind::MAILCHIMP
        }
        _ => return None,
    };
    (is_scattered(whole) && !made_up(whole)).then_some(Hit { start: from, end: to, kind })
}

/// A Telegram bot token around the colon at this position.
pub(super) fn telegram_at(bytes: &[u8], colon: usize) -> Option<Hit> {
    let start = run_back(bytes, colon, DIGIT, 12);
    let end = run(bytes, colon + 1, URL_SAFE, 40);
    let body = bytes.get(colon + 1..end)?;
    let fits =
        (8..=10).contains(&(colon - start)) && (34..=36).contains(&body.len()) && body.starts_with(b"A");
    // The prefix `bot` is part of every API URL of a bot.
    let begins = start == 0 || !is(bytes[start - 1], ALNUM) || bytes[..start].ends_with(b"bot");
    (fits && begins && is_scattered(body) && !made_up(body)).then_some(Hit {
        start,
        end,
        kind: Kind::TELEGRAM,
    })
}

/// A Microsoft Entra client secret around the tilde at this position: three characters, a digit, `Q~` and the
/// rest.
pub(super) fn azure_client_secret_at(bytes: &[u8], tilde: usize) -> Option<Hit> {
    let start = tilde.checked_sub(5)?;
    let head = bytes.get(start..tilde)?;
    let named = |&byte: &u8| is(byte, URL_SAFE | DOT) || byte == b'~';
    let rest = bytes.get(tilde + 1..)?;
    let length = rest.iter().take(40).position(|byte| !named(byte)).unwrap_or(rest.len().min(40));
    let fits =
        head[4] == b'Q' && is(head[3], DIGIT) && head[..3].iter().all(named) && (31..=36).contains(&length);
    let begins = start == 0 || !is(bytes[start - 1], URL_SAFE);
    (fits && begins).then_some(Hit { start, end: tilde + 1 + length, kind: Kind::AZURE_CLIENT_SECRET })
}

/// The secret key next to an access key id, as in a downloaded table or a listing.
pub(super) fn aws_secret_near(bytes: &[u8], after: usize) -> Option<Hit> {
    let window = (after + 120).min(bytes.len());
    let mut at = after;
    while at < window {
        let end = run(bytes, at, BASE64, 64);
        let word = bytes.get(at..end)?;
        if word.len() == 40 && is_scattered(word) && !all(word, HEX) && !made_up(word) {
            return Some(Hit { start: at, end, kind: Kind::AWS_SECRET_ACCESS_KEY });
        }
        at = end + 1;
        if word.len() > 40 {
            return None;
        }
    }
    None
}

/// The kind of a value that is a known token as a whole.
pub(super) fn kind_of(value: &[u8]) -> Option<Kind> {
    let hit = token_at(value, 0).or_else(|| web_token_at(value, 0)).or_else(|| wrapped_key_at(value, 0));
    hit.or_else(|| built(value, 0, value.len())).filter(|hit| hit.end == value.len()).map(|hit| hit.kind)
}

/// Decodes Base64 of either alphabet, up to the first invalid character.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

/// Whether this is `name:password` in Base64.
pub(super) fn is_basic(value: &[u8]) -> bool {
    let decoded = decode(value);
    let shown = decoded.iter().all(|&byte| byte.is_ascii_graphic() || is(byte, SPACE) || !byte.is_ascii());
    let password = decoded.iter().position(|&byte| byte == b':').map(|colon| decoded.len() - colon - 1);
    value.len() >= 8 && value.len() % 4 != 1 && shown && password.is_some_and(|length| length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        assert_eq!(decode(b"dXNlcjpwYXNz"), b"user:pass");
        assert_eq!(decode(b"YQ=="), b"a");
        assert!(is_basic(b"dXNlcjpwYXNz") && !is_basic(b"authentication"));
    }
}
