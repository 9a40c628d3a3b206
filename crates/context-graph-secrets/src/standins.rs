//! Placeholders that are not secrets: examples, defaults, references, types, numbers, sentences.

use super::bytes::{
    ALNUM, ANY_HEX, DASH, DIGIT, DOT, LETTER, LOWER, UNDERSCORE, UPPER, all, contains_any_case, count, find,
    is, is_at,
};
use super::judge::{changes, is_scattered, sample};

/// Substrings that show that a token is made up.
const TELLING: [&[u8]; 10] = [
    b"example",
    b"xxxxxx",
    b"placeholder",
    b"changeme",
    b"change-me",
    b"change_me",
    b"replace",
    b"redacted",
    b"****",
    b"....",
];

/// Short words that show it only next to a separator: four or five letters in a row also occur in random text.
const TELLING_APART: [&[u8]; 7] = [b"your", b"YOUR", b"xxxx", b"XXXX", b"dummy", b"Dummy", b"DUMMY"];

/// Whether this is a placeholder for a token: an example, one repeated character, or characters that count up.
pub(super) fn made_up(value: &[u8]) -> bool {
    let value = sample(value);
    TELLING.iter().any(|&telling| contains_any_case(value, telling))
        || TELLING_APART.iter().any(|&telling| stands_apart(value, telling))
        || counted(value)
}

/// Whether the value contains the word with no letter or digit on at least one side.
fn stands_apart(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).enumerate().any(|(at, window)| {
        let apart =
            |side: Option<usize>| side.and_then(|at| value.get(at)).is_none_or(|&byte| !is(byte, ALNUM));
        window == word && (apart(at.checked_sub(1)) || apart(Some(at + word.len())))
    })
}

/// Whether it mostly counts up or repeats, as in `abc123abc123` or `aaaa`. A long value that counts up is not
/// treated as a placeholder: people type such values to test whether tokens are redacted.
fn counted(value: &[u8]) -> bool {
    let mostly = |steps: &[u8]| {
        let steps = value.windows(2).filter(|pair| steps.contains(&pair[1].wrapping_sub(pair[0]))).count();
        steps * 2 > value.len()
    };
    if value.len() < LONG { mostly(&[0, 1]) } else { mostly(&[0]) }
}

/// From this length on, counting up does not show that a token is made up.
const LONG: usize = 24;

/// Words used in placeholders and defaults, sorted.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "abc", "access", "account", "admin", "an", "any", "api", "app", "argon", "auth", "authorization", "bar",
    "base", "baz", "bcrypt", "bearer", "blank", "bool", "boolean", "bot", "bytes", "change", "changed", "changeit",
    "changeme", "client", "code", "config", "confirm", "correct", "credential", "credentials", "csrf", "current",
    "database", "db", "default", "demo", "dev", "development", "disabled", "dummy", "ed", "empty", "enabled",
    "enter", "env", "example", "expired", "fake", "false", "field", "file", "fixture", "foo", "for", "form",
    "from", "get", "github", "good", "google", "guest", "hash", "hashed", "header", "here", "hidden", "hs", "id",
    "in", "input", "insert", "int", "integer", "invalid", "is", "it", "json", "jwt", "key", "keys", "literal",
    "local", "localhost", "login", "master", "md", "me", "missing", "mock", "my", "mysql", "name", "new", "nil",
    "no", "none", "not", "npm", "null", "number", "oauth", "object", "of", "old", "openai", "optional", "or",
    "pass", "passphrase", "passwd", "password", "passwords", "pat", "path", "placeholder", "plain", "plaintext",
    "postgres", "postgresql", "private", "prod", "production", "public", "pw", "pwd", "qux", "read", "real",
    "redacted", "redis", "refresh", "replace", "replaced", "repo", "required", "reset", "root", "rs", "rsa",
    "sample", "scrypt", "secret", "secrets", "secure", "service", "session", "set", "sha", "short", "sk", "some",
    "something", "staging", "str", "string", "stub", "super", "supersecret", "sys", "system", "temp", "test",
    "tester", "testing", "text", "the", "this", "to", "todo", "token", "tokens", "true", "undefined", "unset",
    "unused", "user", "username", "utf", "uuid", "v", "valid", "value", "var", "void", "webhook", "with", "write",
    "wrong", "x", "xx", "xxx", "yes", "you", "your", "yours",
];

/// Whether it consists only of placeholder words and short numbers, as in `test-token-1` or `myPassword`.
pub(super) fn only_words(value: &[u8]) -> bool {
    let value = sample(value);
    let mut at = 0;
    while at < value.len() {
        let end = word_end(value, at);
        let word = &value[at..end];
        let known = if is(value[at], LETTER) {
            let mut lower = [0_u8; 16];
            lower.get_mut(..word.len()).is_some_and(|lower| {
                lower.copy_from_slice(word);
                lower.make_ascii_lowercase();
                WORDS.binary_search_by(|known| known.as_bytes().cmp(lower)).is_ok()
            })
        } else if is(value[at], DIGIT) {
            word.len() <= 4 || counted(word)
        } else {
            is(value[at], DASH | UNDERSCORE | DOT) || b" ,:!?*#@".contains(&value[at])
        };
        if !known {
            return false;
        }
        at = end;
    }
    true
}

/// The end of the word, number or punctuation that begins here. A word ends before a capital that follows a lower-case
/// letter.
fn word_end(value: &[u8], at: usize) -> usize {
    let class = if is(value[at], LETTER) { LETTER } else { DIGIT };
    let mut end = at + 1;
    while is(value[at], ALNUM)
        && is_at(value, end, class)
        && !(is_at(value, end, UPPER) && is_at(value, end - 1, LOWER))
    {
        end += 1;
    }
    end
}

/// Whether the value is a reference or a pattern: a variable, a template, a path, code.
pub(super) fn refers(value: &[u8]) -> bool {
    let value = sample(value);
    let path = [&b"./"[..], b"../", b"~/"].iter().any(|&start| value.starts_with(start));
    opens(value) || path || within(value)
}

/// Whether it begins like something that is substituted. Passwords may begin with any character, so the rest is
/// checked too.
fn opens(value: &[u8]) -> bool {
    let Some((&first, rest)) = value.split_first() else { return false };
    let named =
        |rest: &[u8]| all(rest, ALNUM | UNDERSCORE | DOT | DASH) && !(rest.len() >= 12 && is_scattered(rest));
    let holds = |sign: u8| rest.contains(&sign);
    match first {
        b'$' => named(rest) || rest.starts_with(b"{") || rest.starts_with(b"(") || rest.starts_with(b"env:"),
        b'%' => named(rest) || holds(b'%'),
        b'<' => holds(b'>') || named(rest),
        b'{' => holds(b'}') || named(rest),
        b'[' => holds(b']') || named(rest) || rest.starts_with(b"redacted:"),
        b'(' => holds(b')') || named(rest),
        b'\\' => true,
        _ => false,
    }
}

/// Whether part of it is to be substituted: `${NAME}`, `{{ name }}`, `<name>`, `.*`.
fn within(value: &[u8]) -> bool {
    const PARTS: [&[u8]; 11] =
        [b"&lt;", b"${", b"$(", b"#{", b"://", b".*", b".+", b"[^", b"...", b"%s", b"process.env"];
    PARTS.iter().any(|part| find(value, part).is_some())
        || value.iter().position(|&byte| byte == b'<').is_some_and(|open| value[open..].contains(&b'>'))
        || (value.contains(&b'{') && value.contains(&b'}'))
        || value.windows(3).any(|window| window == "…".as_bytes())
}

/// Whether this is a member path in code: `self.token`, `config.db.password`, `Foo::BAR`, `user->key`.
pub(super) fn is_member(value: &[u8]) -> bool {
    let value = sample(value);
    let joined = value.windows(2).any(|pair| pair == b"::" || pair == b"->" || pair == b"?.")
        || value.windows(3).any(|three| three[1] == b'.' && is(three[0], ALNUM) && is(three[2], LETTER));
    let signs = value.iter().all(|&byte| is(byte, ALNUM | UNDERSCORE | DOT) || b":->?!".contains(&byte));
    let drawn = |part: &[u8]| part.len() > 6 && count(part, DIGIT) > 0 && changes(part) * 5 >= part.len() * 2;
    joined && signs && !value.split(|&byte| !is(byte, ALNUM)).any(drawn)
}

/// Whether this is a number in code: `0xC004F078_u32`, `-4096i32`, `65536`.
pub(super) fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let hex = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X"));
    let suffix = |rest: &[u8]| {
        let rest = rest.strip_prefix(b"_").unwrap_or(rest);
        rest.len() <= 5 && (rest.is_empty() || b"uifULl".contains(&rest[0]))
    };
    let (digits, set) = hex.map_or((digits, DIGIT), |hex| (hex, ANY_HEX));
    let length = digits.iter().take_while(|&&byte| is(byte, set)).count();
    (1..=16).contains(&length) && (hex.is_some() || length < digits.len()) && suffix(&digits[length..])
}

/// Whether it is a sentence or a list of words: most parts between spaces are words or numbers.
pub(super) fn is_prose(value: &[u8]) -> bool {
    let (mut words, mut others) = (0, 0);
    for word in value.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty()) {
        let letters = word.iter().filter(|&&byte| byte.is_ascii_alphabetic() || !byte.is_ascii()).count();
        let digits = count(word, DIGIT);
        let plain = (digits == 0 || letters == 0) && word.len() - letters - digits <= 2;
        *(if plain { &mut words } else { &mut others }) += 1;
    }
    others == 0 || words > 2 * others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_short() {
        assert!(WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(WORDS.iter().all(|word| word.len() <= 16));
    }

    #[test]
    fn stand_ins_are_known() {
        for word in
            ["test-token-1", "myPassword", "changeme", "secret", "your_api_key_here", "", "TEST_SECRET"]
        {
            assert!(only_words(word.as_bytes()), "{word}");
        }
        for word in ["hunter2", "correct-horse", "s3cr3t"] {
            assert!(!only_words(word.as_bytes()), "{word}");
        }
        assert!(
            made_up(b"abcdef123456abcdef") && made_up(b"AKIAIOSFODNN7EXAMPLE") && made_up(b"aaaaaaaaaaaa")
        );
        assert!(made_up(b"dummy_9f8Kd02LmQx7") && made_up(b"9f8Kd02LmQx7-DUMMY"));
        assert!(!made_up(b"9f8Kd02LmQx7PzR4") && !made_up(b"IkN0kkDoAjYmr8EpKJV9h31ojmsdummYz9Fz"));
    }

    #[test]
    fn references_are_known() {
        for value in ["${TOKEN}", "$TOKEN", "<token>", "{{ token }}", "a${B}c", "https://a", "./key.pem"] {
            assert!(refers(value.as_bytes()), "{value}");
        }
        assert!(
            is_member(b"self.config.token")
                && is_member(b"Secrets::TOKEN")
                && is_member(b"win32api.RegEnumKey")
                && !is_member(b"hunter2")
        );
    }

    #[test]
    fn numbers_of_code_are_known() {
        for number in ["0xC004F078_u32", "-4096i32", "2048u32", "0xff"] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for other in ["12345678", "4096hunter", "0xC004F078C004F078C004F078", "u32", ""] {
            assert!(!is_number(other.as_bytes()), "{other}");
        }
    }
}
