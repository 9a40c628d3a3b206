//! What a name says about its value: `DB_PASSWORD`, `apiKey`, `X-Auth-Token`, `--client-secret`.

use super::bytes::{ALNUM, DIGIT, LOWER, UPPER, is, is_at};
use super::kind::{Kind, NAMES};
use super::name_words::{FINDING, KEYS, MARKING, PASSWORDS, SECRETS, SUFFIXES, TOKENS, one_of};

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A password: it may be short and may be a word.
    Password,
    /// A password only if it is written as a value and not as a word: the name has other meanings too.
    QuotedPassword,
    /// A secret that is usually random.
    Secret,
    /// A key or token: random.
    Token,
    /// A header with a scheme and a credential.
    Authorization,
    /// A line of cookies.
    Cookie,
}

/// A name whose value is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub meaning: Meaning,
    pub kind: Kind,
    /// Whether it is written like an environment variable.
    pub shouted: bool,
}

/// The longest name that is examined.
pub(super) const MAX_NAME: usize = 64;

/// A name in lower case, with `_` between its words.
struct Snake {
    bytes: [u8; 2 * MAX_NAME],
    length: usize,
}

impl Snake {
    fn of(name: &[u8]) -> Self {
        let mut snake = Self { bytes: [0; 2 * MAX_NAME], length: 0 };
        for (at, &byte) in name.iter().take(MAX_NAME).enumerate() {
            let humps = is(byte, UPPER)
                && at > 0
                && (is(name[at - 1], LOWER | DIGIT) || is(name[at - 1], UPPER) && is_at(name, at + 1, LOWER));
            if humps || !is(byte, ALNUM) {
                snake.part();
            }
            if is(byte, ALNUM) {
                snake.push(byte.to_ascii_lowercase());
            }
        }
        snake
    }

    fn part(&mut self) {
        if self.length > 0 && self.bytes[self.length - 1] != b'_' {
            self.push(b'_');
        }
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn text(&self) -> &str {
        str::from_utf8(self.bytes.get(..self.length).unwrap_or(&[])).unwrap_or_default().trim_end_matches('_')
    }
}

/// Whether the name contains the start of a word for a secret: this rules out most names.
fn may_mean(name: &[u8]) -> bool {
    let lower = |at: usize| name.get(at).map_or(0, |byte| byte | 0x20);
    (0..name.len() - 1).any(|at| match (lower(at), lower(at + 1)) {
        (b'p', b'a') => matches!(lower(at + 2), b's' | b't'),
        (b'p', b'h') => lower(at + 2) == b'r',
        (b'k', b'e') => lower(at + 2) == b'y',
        (b't', b'o') => lower(at + 2) == b'k',
        (b's', b'e') => lower(at + 2) == b'c',
        (b'c', b'r') => lower(at + 2) == b'e',
        (b'c', b'o') => lower(at + 2) == b'o',
        (b'p' | b'j', b'w') | (b'm', b'n') => true,
        (b'a', b'u') | (b'm', b'o') => lower(at + 2) == b't',
        _ => false,
    })
}

/// What the name says about its value; `None` if the value is not secret.
pub(super) fn meaning(name: &[u8]) -> Option<Named> {
    if name.len() < 2 || name.len() > MAX_NAME || !may_mean(name) {
        return None;
    }
    // A shell's working folder.
    if matches!(name, b"PWD" | b"OLDPWD") {
        return None;
    }
    let snake = Snake::of(name);
    let text = without_suffixes(snake.text());
    let (before, head) = text.rsplit_once('_').map_or(("", text), |(before, head)| (before, head));
    let (meaning, kind) = head_means(before, head)?;
    let shouted = !name.iter().any(|&byte| is(byte, LOWER));
    let kind = if name == b"_authToken" { Kind::NPM } else { maker(text).unwrap_or(kind) };
    Some(Named { meaning, kind, shouted })
}

/// The name without suffixes that say where or how the value is kept.
fn without_suffixes(mut text: &str) -> &str {
    while let Some((before, last)) = text.rsplit_once('_') {
        if !one_of(SUFFIXES, last) && !last.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        text = before;
    }
    text
}

/// The meaning of a name's last word together with those before it.
fn head_means(before: &str, head: &str) -> Option<(Meaning, Kind)> {
    let head = head.trim_end_matches(|last: char| last.is_ascii_digit());
    let last = before.rsplit('_').next().unwrap_or_default();
    Some(match head {
        "phrase" if matches!(last, "seed" | "recovery") => (Meaning::Password, Kind::PASSWORD),
        "pass" | "pwd" | "pw" if before.is_empty() => (Meaning::QuotedPassword, Kind::PASSWORD),
        "pass" | "pw" if matches!(last, "" | "test" | "tests" | "by" | "single" | "first" | "second") => {
            return None;
        }
        "pass" | "pw" => (Meaning::Password, Kind::PASSWORD),
        "key" | "keys" if opens(before, last) => (Meaning::Token, Kind::KEY),
        "auth" | "credential" | "credentials" | "creds" => (Meaning::Token, Kind::CREDENTIAL),
        "authorization" => (Meaning::Authorization, Kind::AUTHORIZATION),
        "cookie" => (Meaning::Cookie, Kind::COOKIE),
        _ if one_of(PASSWORDS, head) => (Meaning::Password, Kind::PASSWORD),
        _ if one_of(SECRETS, head) => (Meaning::Secret, Kind::SECRET),
        _ if one_of(KEYS, head) => (Meaning::Token, Kind::KEY),
        _ if one_of(TOKENS, head) && !before.split('_').any(|word| one_of(MARKING, word)) => {
            (Meaning::Token, Kind::TOKEN)
        }
        _ => return None,
    })
}

/// Whether a key with these words before it gives access.
fn opens(before: &str, last: &str) -> bool {
    let finds = last.is_empty() || one_of(FINDING, last);
    !finds || before.contains("secret") || last == "storage" && before.contains("azure")
}

/// The vendor of a name: the name in the table that one of its words begins with.
fn maker(text: &str) -> Option<Kind> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        let first = *rest.as_bytes().first()?;
        let alike = NAMES.partition_point(|(name, _)| name.as_bytes()[0] < first);
        let alike = NAMES[alike..].iter().take_while(|(name, _)| name.as_bytes()[0] == first);
        let found = alike.filter(|(name, _)| rest.starts_with(name)).max_by_key(|(name, _)| name.len());
        if let Some(&(_, kind)) = found {
            return Some(kind);
        }
        from += rest.find('_')? + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(name: &str) -> Option<Meaning> {
        meaning(name.as_bytes()).map(|named| named.meaning)
    }

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for name in
            ["password", "DB_PASSWORD", "dbPassword", "spring.datasource.password", "PGPASSWORD", "db_pass"]
        {
            assert_eq!(means(name), Some(Meaning::Password), "{name}");
        }
        for name in
            ["apiKey", "API_KEY", "x-api-key", "APIKey", "OPENAI_API_KEY_PROD", "_authToken", "accessToken"]
        {
            assert_eq!(means(name), Some(Meaning::Token), "{name}");
        }
        assert_eq!(means("SECRET_KEY_BASE"), Some(Meaning::Token));
        assert_eq!(means("client_secret"), Some(Meaning::Secret));
        assert_eq!(means("Proxy-Authorization"), Some(Meaning::Authorization));
    }

    #[test]
    fn every_word_passes_the_first_look() {
        for word in [PASSWORDS, SECRETS, TOKENS, KEYS].into_iter().flatten() {
            assert!(meaning(word.as_bytes()).is_some(), "{word}");
        }
        for name in [
            "seed_phrase",
            "db_pw",
            "pw",
            "api_key",
            "creds",
            "npm_auth",
            "Authorization",
            "Cookie",
            "credentials",
        ] {
            assert!(meaning(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn names_beside_secrets_are_not() {
        for name in [
            "token_type",
            "max_tokens",
            "password_hash",
            "key",
            "primary_key",
            "cacheKey",
            "public_key",
            "secretName",
            "nextPageToken",
            "tokenizer",
            "keyboard",
            "passed",
            "tests_pass",
            "compass",
            "bypass",
            "author",
        ] {
            assert_eq!(means(name), None, "{name}");
        }
    }
}
