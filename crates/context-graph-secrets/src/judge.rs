//! Whether a string is random.
//!
//! Uses only integer arithmetic, so that the result is the same on every machine.

use super::bytes::{ALNUM, ANY_HEX, DIGIT, LETTER, LOWER, UPPER, all, count, is};
use super::gibberish::is_gibberish;

/// How much of a value is examined: enough to judge it, and bounded so that the scan stays linear.
const SAMPLE: usize = 128;

pub(super) fn sample(value: &[u8]) -> &[u8] {
    value.get(..SAMPLE).unwrap_or(value)
}

/// How often the character class changes from one character to the next.
pub(super) fn changes(value: &[u8]) -> usize {
    let class = |byte: u8| match byte {
        _ if is(byte, DIGIT) => 0,
        _ if is(byte, LOWER) => 1,
        _ if is(byte, UPPER) => 2,
        _ => 3,
    };
    value.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count()
}

/// Whether letters and digits, or cases, alternate as in random text and not as in words.
pub(super) fn is_scattered(value: &[u8]) -> bool {
    let value = sample(value);
    let letters = value.iter().any(|&byte| is(byte, LETTER));
    letters && !all(value, LOWER) && !all(value, UPPER) && changes_within(value) * 6 >= value.len()
}

/// Whether it could be the part after a token's prefix: anything but words.
pub(super) fn is_body(value: &[u8]) -> bool {
    let value = sample(value);
    let capitals = all(value, UPPER | DIGIT) && alphabet(value) >= 8;
    let digits = count(value, DIGIT);
    capitals || is_scattered(value) || digits >= 4 && digits < value.len() && !reads_as_words(value)
}

/// Class changes, without those next to word separators.
fn changes_within(value: &[u8]) -> usize {
    value.split(|&byte| !is(byte, ALNUM)).map(changes).sum()
}

/// The size of the alphabet that the value seems to be drawn from, estimated from how often two of its
/// characters are equal.
pub(super) fn alphabet(value: &[u8]) -> usize {
    let value = sample(value);
    let mut seen = [0_usize; 256];
    for &byte in value {
        seen[byte as usize] += 1;
    }
    let equal: usize = seen.iter().map(|&times| times * times.saturating_sub(1)).sum();
    let pairs = value.len() * value.len().saturating_sub(1);
    pairs.checked_div(equal).unwrap_or(256)
}

/// Whether the value of a named secret is random enough.
pub(super) fn is_random(value: &[u8]) -> bool {
    let sampled = sample(value);
    let digits = count(sampled, DIGIT);
    let letters = count(sampled, LETTER);
    let mixed = digits >= 2 && letters >= 4 && changes_within(sampled) >= 3;
    let cased = count(sampled, UPPER) >= 3
        && count(sampled, LOWER) >= 3
        && changes_within(sampled) * 5 >= sampled.len() * 2;
    let long_number = value.len() >= 24 && digits == value.len();
    let drawn =
        (value.len() >= 12 && mixed || value.len() >= 16 && cased || long_number) && !reads_as_words(sampled);
    (drawn || value.len() >= 12 && is_gibberish(sampled)) && alphabet(sampled) >= 6
}

/// Whether a value is mostly words and so not random, as in `2024-01-01-add-users-table` or
/// `X509RequestOptions`.
pub(super) fn reads_as_words(value: &[u8]) -> bool {
    let (mut words, mut in_words, mut in_humps) = (0, 0, 0);
    for part in value.split(|&byte| !is(byte, ALNUM)) {
        if part.len() >= 3 && (all(part, LOWER) || all(part, UPPER) || all(&part[1..], LOWER)) {
            words += 1;
            in_words += part.len() + 1;
        } else {
            in_humps += humps(part);
        }
    }
    words >= 2 && in_words * 2 > value.len() || (in_words + in_humps) * 3 > value.len() * 2
}

/// The number of letters in pronounceable runs of lower-case letters, including a capital before each run.
fn humps(part: &[u8]) -> usize {
    let runs = part.split(|&byte| !is(byte, LOWER));
    runs.filter(|run| run.len() >= 3 && is_pronounceable(run)).map(|run| run.len() + 1).sum()
}

fn is_pronounceable(run: &[u8]) -> bool {
    let vowel = |byte: &u8| b"aeiouy".contains(byte);
    let vowels = run.iter().filter(|byte| vowel(byte)).count();
    vowels * 4 >= run.len() && !run.windows(4).any(|four| !four.iter().any(vowel))
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, &byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => is(byte, ANY_HEX),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_is_told_from_words() {
        for value in ["9f8Kd02LmQx7PzR4", "qWeRtYuIoPaSdFgHjKlZ", "d131dd02c5e6eec4693d9a0698aff95c"] {
            assert!(is_random(value.as_bytes()), "{value}");
        }
        for value in [
            "2024-01-01-add-users-table",
            "getElementsByTagName",
            "user-settings",
            "v1beta1",
            "X509RequestInheritOptions",
            "SpApplyControlTokenFn",
        ] {
            assert!(!is_random(value.as_bytes()), "{value}");
        }
    }
}
