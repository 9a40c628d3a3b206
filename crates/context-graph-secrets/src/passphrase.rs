//! Passwords of several words: `password: correct horse battery staple`.

use super::bytes::{LOWER, SPACE, all, is};
use super::values::Literal;

/// The number of words in a passphrase: from four up to the longest seed phrase.
const WORDS: std::ops::RangeInclusive<usize> = 4..=24;

const MAX_LINE: usize = 240;

/// Words that occur in sentences but not in passphrases. Sorted.
#[rustfmt::skip]
const SENTENCE: &[&str] = &[
    "a", "about", "after", "all", "already", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by",
    "can", "cannot", "change", "changed", "character", "characters", "check", "confirm", "could", "default", "do", "does",
    "empty", "enter", "error", "failed", "field", "first", "for", "forgot", "from", "has", "have", "here", "how", "if", "in",
    "incorrect", "input", "into", "invalid", "is", "it", "its", "least", "length", "long", "match", "maximum", "may",
    "minimum", "missing", "more", "must", "need", "new", "no", "not", "of", "on", "one", "only", "optional", "or", "out",
    "password", "passwords", "please", "required", "reset", "same", "see", "set", "should", "so", "string", "than", "that",
    "the", "their", "them", "then", "there", "they", "this", "to", "token", "too", "update", "updated", "use", "used",
    "user", "using", "value", "was", "we", "were", "what", "when", "where", "which", "will", "with", "without", "you", "your",
];

/// Whether the words look drawn from a list: all in lower case, and no function words of a sentence.
pub(super) fn is_passphrase(value: &[u8]) -> bool {
    let drawn = |word: &[u8]| {
        (3..=12).contains(&word.len())
            && all(word, LOWER)
            && str::from_utf8(word).is_ok_and(|word| SENTENCE.binary_search(&word).is_err())
    };
    let mut count = 0;
    value.len() <= MAX_LINE
        && value.split(|&byte| byte == b' ').all(|word| {
            count += 1;
            drawn(word)
        })
        && WORDS.contains(&count)
}

/// The passphrase that fills the rest of the line.
pub(super) fn phrase_at(bytes: &[u8], from: usize) -> Option<Literal> {
    let rest = bytes.get(from..)?;
    let blank = rest.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let line = rest.get(blank..)?;
    let length = line.iter().take(MAX_LINE).take_while(|&&byte| byte == b' ' || is(byte, LOWER)).count();
    // It must not be the beginning of a longer text.
    let after = line.get(length);
    let ended = after.is_none_or(|&byte| is(byte, SPACE) || b"\\\"'`,;#".contains(&byte));
    let words = line.get(..length)?.trim_ascii_end();
    let start = from + blank;
    (ended && is_passphrase(words)).then_some(Literal { start, end: start + words.len(), quoted: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        assert!(SENTENCE.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn drawn_words_are_told_from_sentences() {
        assert!(is_passphrase(b"correct horse battery staple"));
        for text in
            ["must have eight characters", "Choose some random words", "two words", "one, two, three, four"]
        {
            assert!(!is_passphrase(text.as_bytes()), "{text}");
        }
        let text = b" correct horse battery staple\nport: 80";
        assert_eq!(
            phrase_at(text, 0).map(|at| &text[at.start..at.end]),
            Some(&b"correct horse battery staple"[..])
        );
        assert_eq!(phrase_at(b" correct horse battery staple (see below)", 0), None);
    }
}
