//! Classes of bytes, and runs of them.

/// A set of byte classes.
pub(super) type Set = u16;

pub(super) const DIGIT: Set = 1;
pub(super) const LOWER: Set = 1 << 1;
pub(super) const UPPER: Set = 1 << 2;
/// `a` to `f`.
const HEX_LOWER: Set = 1 << 3;
/// `A` to `F`.
const HEX_UPPER: Set = 1 << 4;
pub(super) const DASH: Set = 1 << 5;
pub(super) const UNDERSCORE: Set = 1 << 6;
pub(super) const DOT: Set = 1 << 7;
/// `+` and `/`.
pub(super) const PLUS_SLASH: Set = 1 << 8;
pub(super) const EQUALS: Set = 1 << 9;
pub(super) const SPACE: Set = 1 << 10;
pub(super) const QUOTE: Set = 1 << 11;
pub(super) const PERCENT: Set = 1 << 12;
pub(super) const COLON: Set = 1 << 13;
pub(super) const AT: Set = 1 << 14;
pub(super) const BANG: Set = 1 << 15;

pub(super) const LETTER: Set = LOWER | UPPER;
pub(super) const ALNUM: Set = LETTER | DIGIT;
pub(super) const HEX: Set = DIGIT | HEX_LOWER;
pub(super) const ANY_HEX: Set = DIGIT | HEX_LOWER | HEX_UPPER;
pub(super) const URL_SAFE: Set = ALNUM | DASH | UNDERSCORE;
pub(super) const BASE64: Set = ALNUM | PLUS_SLASH | EQUALS;
/// The characters of a name in code, a setting or a header.
pub(super) const NAME: Set = ALNUM | DASH | UNDERSCORE | DOT;

static CLASSES: [Set; 256] = classes();

const fn classes() -> [Set; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        classes[byte as usize] = class(byte);
        byte += 1;
    }
    classes
}

const fn class(byte: u8) -> Set {
    match byte {
        b'0'..=b'9' => DIGIT,
        b'a'..=b'f' => LOWER | HEX_LOWER,
        b'g'..=b'z' => LOWER,
        b'A'..=b'F' => UPPER | HEX_UPPER,
        b'G'..=b'Z' => UPPER,
        b'-' => DASH,
        b'_' => UNDERSCORE,
        b'.' => DOT,
        b'+' | b'/' => PLUS_SLASH,
        b'=' => EQUALS,
        b' ' | b'\t' | b'\r' | b'\n' => SPACE,
        b'"' | b'\'' | b'`' => QUOTE,
        b'%' => PERCENT,
        b':' => COLON,
        b'@' => AT,
        b'!' => BANG,
        _ => 0,
    }
}

/// Whether the byte is in one of the classes.
#[inline]
pub(super) fn is(byte: u8, set: Set) -> bool {
    CLASSES[byte as usize] & set != 0
}

/// Whether there is a byte at this position and it is in one of the classes.
#[inline]
pub(super) fn is_at(bytes: &[u8], at: usize, set: Set) -> bool {
    bytes.get(at).is_some_and(|&byte| is(byte, set))
}

/// The end of the run of bytes of these classes that begins here. Looks at no more than `most` bytes.
#[inline]
pub(super) fn run(bytes: &[u8], from: usize, set: Set, most: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let rest = rest.get(..most).unwrap_or(rest);
    from + rest.iter().position(|&byte| !is(byte, set)).unwrap_or(rest.len())
}

/// The start of the run of bytes of these classes that ends here. Looks at no more than `most` bytes.
#[inline]
pub(super) fn run_back(bytes: &[u8], to: usize, set: Set, most: usize) -> usize {
    let before = bytes.get(to.saturating_sub(most)..to).unwrap_or(&[]);
    to - before.iter().rev().position(|&byte| !is(byte, set)).unwrap_or(before.len())
}

/// Whether all bytes are of these classes.
pub(super) fn all(bytes: &[u8], set: Set) -> bool {
    bytes.iter().all(|&byte| is(byte, set))
}

/// How many bytes are of these classes.
pub(super) fn count(bytes: &[u8], set: Set) -> usize {
    bytes.iter().filter(|&&byte| is(byte, set)).count()
}

/// Whether the text from here on starts with `what`.
#[inline]
pub(super) fn starts(bytes: &[u8], at: usize, what: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(what))
}

/// The first position of `what`.
pub(super) fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len().max(1)).position(|window| window == what)
}

/// Whether `what` (given in lower case) occurs, ignoring case.
pub(super) fn contains_any_case(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len().max(1)).any(|window| window.eq_ignore_ascii_case(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_the_class_does_and_never_outside() {
        let text = b"ab12-_. x";
        assert_eq!(run(text, 0, ALNUM, 99), 4);
        assert_eq!(run(text, 0, ALNUM, 2), 2);
        assert_eq!(run(text, 0, NAME, 99), 7);
        assert_eq!(run(text, 9, NAME, 99), 9);
        assert_eq!(run(text, 50, NAME, 99), 50);
        assert_eq!(run_back(text, 4, ALNUM, 99), 0);
        assert_eq!(run_back(text, 4, DIGIT, 99), 2);
        assert_eq!(run_back(text, 0, DIGIT, 99), 0);
    }
}
