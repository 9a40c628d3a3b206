//! Secrets in URLs: passwords before the host, and data source names. Webhooks are in `kinds.toml`.

use super::bytes::{DIGIT, NAME, PLUS_SLASH, QUOTE, SPACE, URL_SAFE, all, find, is, run_back, starts};
use super::judge::is_random;
use super::kind::Kind;
use super::marker::has_marker;
use super::scan::Hit;
use super::standins::{made_up, only_words, refers};
use super::vendor::kind_of;

/// How far to search for the host.
const MAX_AUTHORITY: usize = 512;

/// The secret in the URL whose `://` is at this position.
pub(super) fn secret_at(bytes: &[u8], colon: usize) -> Option<Hit> {
    let from = colon + 3;
    let at = userinfo_end(bytes, from)?;
    let scheme = &bytes[run_back(bytes, colon, NAME | PLUS_SLASH, 24)..colon];
    credentials(bytes, from, at, kind_of_scheme(scheme))
}

/// The password in `name:password@tcp(host)/database`, whose `@` is at this position.
pub(super) fn data_source_at(bytes: &[u8], at: usize) -> Option<Hit> {
    if !starts(bytes, at, b"@tcp(") && !starts(bytes, at, b"@unix(") {
        return None;
    }
    let before = bytes.get(at.saturating_sub(128)..at)?;
    let ends = |&byte: &u8| is(byte, SPACE | QUOTE) || byte == b'/';
    let from = at - before.iter().rev().position(ends).unwrap_or(before.len());
    credentials(bytes, from, at, Kind::DATABASE_URL)
}

/// The position of the `@` before the host. A raw `#` or `?` in a password is common. It only ends the search after
/// an `@`, after a port, or if there is no colon.
fn userinfo_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut colon = None;
    let mut last = None;
    for (offset, &byte) in bytes.get(from..)?.iter().take(MAX_AUTHORITY).enumerate() {
        let at = from + offset;
        match byte {
            b'@' => last = Some(at),
            b':' if colon.is_none() => colon = Some(at),
            b'/' | b'<' | b'>' | b'\\' => break,
            b'#' | b'?' if last.is_some() || colon.is_none_or(|colon| all(&bytes[colon + 1..at], DIGIT)) => {
                break;
            }
            _ if is(byte, SPACE | QUOTE) || byte < b' ' => break,
            _ => {}
        }
    }
    last
}

fn credentials(bytes: &[u8], from: usize, at: usize, kind: Kind) -> Option<Hit> {
    let userinfo = bytes.get(from..at)?;
    if has_marker(userinfo) {
        return None;
    }
    let Some(colon) = userinfo.iter().position(|&byte| byte == b':') else {
        return lone_token(bytes, from, at);
    };
    let password = &userinfo[colon + 1..];
    if password.is_empty() {
        return lone_token(bytes, from, from + colon);
    }
    let plain = password.len() < 3 || refers(password) || made_up(password) || only_words(password);
    let start = from + colon + 1;
    (!plain).then(|| Hit { start, end: at, kind: kind_of(password).unwrap_or(kind) })
}

/// A token in place of the user name.
fn lone_token(bytes: &[u8], from: usize, to: usize) -> Option<Hit> {
    let token = bytes.get(from..to)?;
    let random = token.len() >= 20 && all(token, URL_SAFE) && is_random(token) && !made_up(token);
    let host = &bytes[to..bytes.len().min(to + 64)];
    let kind = if find(host, b"sentry").is_some() { Kind::SENTRY_DSN } else { Kind::URL_PASSWORD };
    random.then(|| Hit { start: from, end: to, kind: kind_of(token).unwrap_or(kind) })
}

fn kind_of_scheme(scheme: &[u8]) -> Kind {
    const DATABASES: [&[u8]; 20] = [
        b"postgres",
        b"postgresql",
        b"mysql",
        b"mysql2",
        b"mariadb",
        b"mongodb",
        b"mongodb+srv",
        b"redis",
        b"rediss",
        b"amqp",
        b"amqps",
        b"mssql",
        b"sqlserver",
        b"oracle",
        b"clickhouse",
        b"cockroachdb",
        b"couchdb",
        b"neo4j",
        b"snowflake",
        b"cassandra",
    ];
    let dialect = scheme.split(|&byte| byte == b'+').next().unwrap_or_default();
    if DATABASES.contains(&scheme) || DATABASES.contains(&dialect) {
        Kind::DATABASE_URL
    } else {
        Kind::URL_PASSWORD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(&str, Kind)> {
        let colon = text.find("://")?;
        secret_at(text.as_bytes(), colon).map(|hit| (&text[hit.start..hit.end], hit.kind))
    }

    #[test]
    fn passwords_before_the_host_are_found() {
        assert_eq!(found("postgres://app:pa55-w@db/x"), Some(("pa55-w", Kind::DATABASE_URL)));
        assert_eq!(found("redis://:q8Zr@cache:6379"), Some(("q8Zr", Kind::DATABASE_URL)));
        assert_eq!(found("https://me:q8#Zr?x@host/p"), Some(("q8#Zr?x", Kind::URL_PASSWORD)));
        assert_eq!(found("postgresql+asyncpg://a:s3cR@h/d"), Some(("s3cR", Kind::DATABASE_URL)));
    }

    #[test]
    fn addresses_without_one_are_left_alone() {
        for text in [
            "https://host:8080/path?mail=a@b.c",
            "https://host:8080?mail=a@b.c",
            "postgres://user:password@localhost/db",
            "postgres://user:${PASSWORD}@localhost/db",
            "https://github.com/@scope/name",
            "ssh://git@github.com/a/b",
            "://",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
