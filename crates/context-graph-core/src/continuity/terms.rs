//! Turns text into terms: hashed words, identifiers and entities, the same on every machine.
//!
//! A term is 28 bits of a hash, which takes four bytes in a session's encoding. Nothing here depends on a
//! locale: case is folded with Unicode's tables, and words are split by character class.

/// A hashed term.
pub(crate) type Term = u32;

/// Bits of a term.
const TERM_BITS: u32 = 28;

/// Stop words: English function words, keywords that all languages share, and the tools' own messages. Sorted,
/// for a binary search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "been", "before", "bool", "but", "can",
    "case", "catch", "char", "class", "const", "content", "could", "default", "did", "does", "done", "else",
    "end", "enum", "error", "exit", "export", "extend", "false", "file", "final", "find", "for", "from",
    "func", "function", "get", "had", "has", "have", "head", "how", "http", "https", "impl", "import",
    "int", "interface", "into", "its", "just", "let", "like", "line", "list", "main", "make", "match",
    "may", "more", "most", "mut", "name", "need", "new", "nil", "none", "not", "now", "null", "number",
    "off", "one", "only", "other", "our", "out", "output", "over", "package", "path", "private", "pub",
    "public", "read", "return", "run", "same", "self", "set", "should", "some", "src", "static", "str",
    "string", "struct", "such", "tail", "test", "text", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "todo", "true", "try", "two", "type", "use", "user", "value", "var",
    "void", "was", "way", "were", "what", "when", "where", "which", "while", "will", "with", "would", "yes",
    "you", "your",
];

/// The kind of a term. It is part of the hash, so that a word and a folder of the same name differ.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TermKind {
    /// A stemmed word or part of an identifier.
    Word,
    /// A whole identifier.
    Identifier,
    /// A number, a host, a hash or a code.
    Entity,
    /// A file by its name.
    FileName,
    /// A file by its folder and name.
    File,
    /// A folder.
    Folder,
    /// A file name's extension.
    Extension,
    /// Five characters in a row.
    Gram,
    /// A tool.
    Tool,
}

/// The hash of some text as a term of a kind.
pub(crate) fn term(kind: TermKind, text: &str) -> Term {
    term_of_bytes(kind, text.as_bytes())
}

/// The hash of some bytes as a term of a kind.
pub(crate) fn term_of_bytes(kind: TermKind, bytes: &[u8]) -> Term {
    finish(bytes.iter().fold(seed(kind), |hash, byte| mix(hash, byte.to_ascii_lowercase())))
}

/// The hash of one or two names under one kind.
pub(crate) fn pair(kind: TermKind, first: &str, second: &str) -> Term {
    let bytes = first.bytes().chain([b'/']).chain(second.bytes());
    finish(bytes.fold(seed(kind), |hash, byte| mix(hash, byte.to_ascii_lowercase())))
}

/// A 64-bit hash of the exact text, to compare two texts for equality.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// FNV-1a.
fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn seed(kind: TermKind) -> u64 {
    mix(0xcbf2_9ce4_8422_2325, kind as u8)
}

fn finish(hash: u64) -> Term {
    // The low bits of FNV-1a are its weakest, so mix before cutting.
    ((hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TERM_BITS)) as Term
}

/// Runs of letters, digits and underscores.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|token| !token.is_empty())
}

/// The words inside an identifier: `fooBar_baz2` has `foo`, `Bar`, `baz`. Digits separate words and are
/// dropped.
pub(crate) fn parts(token: &str) -> impl Iterator<Item = &str> {
    let mut rest = token;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphabetic());
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut chars = rest.char_indices().peekable();
        let mut before: Option<char> = None;
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|&(_, next)| next);
            // `fooBar` splits before `B`, `HTTPServer` before `S`.
            let hump = c.is_uppercase()
                && before.is_some_and(|b| {
                    b.is_lowercase() || (b.is_uppercase() && next.is_some_and(char::is_lowercase))
                });
            if !c.is_alphabetic() || hump {
                end = at;
                break;
            }
            before = Some(c);
        }
        let (part, tail) = rest.split_at(end);
        rest = tail;
        Some(part)
    })
}

/// The term of a word: case folded, simple English suffixes removed. `None` for a stop word.
pub(crate) fn word(part: &str) -> Option<Term> {
    if part.len() < 3 {
        return None;
    }
    let lower = if part.is_ascii() { part.to_ascii_lowercase() } else { part.to_lowercase() };
    let stem = stem(&lower);
    let empty = |word: &str| STOP_WORDS.binary_search(&word).is_ok();
    let says_nothing =
        lower.chars().nth(2).is_none() || empty(&lower) || (stem.len() < lower.len() && empty(stem));
    (!says_nothing).then(|| term(TermKind::Word, stem))
}

/// Removes plural and verb suffixes only: `sessions` becomes `session`, `parsing` and `parsed` become `pars`.
fn stem(word: &str) -> &str {
    let long_enough = |stem: &&str| stem.chars().nth(3).is_some();
    let ending = ["ings", "ing", "ed", "es", "s"].iter().find_map(|ending| {
        // The `s` of `class` is not a plural.
        let stem = word.strip_suffix(ending).filter(long_enough)?;
        (*ending != "s" || !stem.ends_with('s')).then_some(stem)
    });
    let stem = ending.unwrap_or(word);
    stem.strip_suffix('e').filter(long_enough).unwrap_or(stem)
}

/// Whether a token is an identifier from code, not a plain word.
pub(crate) fn is_identifier(token: &str) -> bool {
    let inner_hump =
        token.chars().zip(token.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let joined = token.trim_matches('_').contains('_');
    token.len() >= 4 && token.len() <= 80 && (inner_hump || joined) && token.chars().any(char::is_alphabetic)
}

/// Whether a token is a number or a code rather than a word: `404`, `a1b2c3d`, `E0308`, `TODO_ID`.
pub(crate) fn is_entity(token: &str) -> bool {
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    (3..=64).contains(&token.len())
        && ((letters == 0 && digits >= 3)
            || (digits >= 1 && letters >= 1 && digits + letters >= 4)
            || (letters >= 3 && token.chars().all(|c| !c.is_lowercase()) && token.len() <= 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn identifiers_fall_into_words() {
        let words = |token| parts(token).collect::<Vec<_>>();
        assert_eq!(words("fooBar_baz2qux"), ["foo", "Bar", "baz", "qux"]);
        assert_eq!(words("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(words("__12"), [""; 0]);
        assert_eq!(words("überGröße"), ["über", "Größe"]);
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        assert_eq!(word("Sessions"), word("session"));
        assert_eq!(word("parsing"), word("parsed"));
        assert_eq!(word("storing"), word("stores"));
        assert_ne!(word("class1fy"), word("clarify"));
        assert_eq!(word("the"), None);
        assert_eq!(word("returns"), None);
        assert_eq!(word("ab"), None);
    }

    #[test]
    fn made_up_names_are_identifiers_and_plain_words_are_not() {
        for name in ["snake_case", "camelCase", "Widget_2"] {
            assert!(is_identifier(name), "{name}");
        }
        for plain in ["word", "WORD", "_x", "1234"] {
            assert!(!is_identifier(plain), "{plain}");
        }
    }

    #[test]
    fn numbers_and_codes_are_entities() {
        for entity in ["404", "E0308", "a1b2c3d", "ENOENT"] {
            assert!(is_entity(entity), "{entity}");
        }
        for other in ["42", "word", "Word"] {
            assert!(!is_entity(other), "{other}");
        }
    }

    #[test]
    fn kinds_do_not_meet() {
        assert_ne!(term(TermKind::Word, "main"), term(TermKind::FileName, "main"));
        assert_eq!(term(TermKind::Word, "Main"), term(TermKind::Word, "main"));
        assert!(term(TermKind::Word, "main") < 1 << TERM_BITS);
    }
}
