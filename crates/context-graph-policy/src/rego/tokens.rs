//! Splits a policy's text into tokens with their lines: names, strings, numbers and other characters, without comments.

/// A token of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A dotted name: `input.signals.branch`.
    Name(&'a str),
    /// The text between quotes, still escaped.
    Text(&'a str),
    /// A number, whatever it is.
    Number,
    /// Any other character that is not white space.
    Sign(u8),
}

/// All tokens, each with its line from 1.
pub(super) fn tokens(text: &str) -> Vec<(u32, Token<'_>)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1_u32);
    while let Some(&byte) = bytes.get(at) {
        let length = match byte {
            b'#' => until(&bytes[at..], |byte| byte == b'\n'),
            b'"' | b'`' => {
                let inside = quoted(&bytes[at + 1..], byte);
                found.push((line, Token::Text(text.get(at + 1..at + 1 + inside).unwrap_or(""))));
                inside + 2
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
                let length = until(&bytes[at..], |byte| !is_name(byte));
                found.push((line, Token::Name(text[at..at + length].trim_end_matches('.'))));
                length
            }
            byte if byte.is_ascii_digit() => {
                found.push((line, Token::Number));
                number(&bytes[at..])
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    found.push((line, Token::Sign(byte)));
                }
                1
            }
        };
        let end = (at + length).min(bytes.len());
        let breaks = text.get(at..end).unwrap_or("").matches('\n').count();
        line = line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        at = end;
    }
    found
}

fn until(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| is_end(*byte)).unwrap_or(bytes.len())
}

/// The length of a number: `12`, `0.5`, `1e-5`.
fn number(bytes: &[u8]) -> usize {
    let is_in = |at: usize| match bytes[at] {
        b'.' => true,
        b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E'),
        byte => byte.is_ascii_alphanumeric(),
    };
    (1..bytes.len()).find(|at| !is_in(*at)).unwrap_or(bytes.len())
}

/// The length up to the closing quote.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != quote {
        at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_texts_and_signs_have_their_lines() {
        let text = "a.b := \"x\\\"y\" # c.d\n\n`raw\n#` e[\"f\"].g";
        assert_eq!(
            tokens(text),
            [
                (1, Token::Name("a.b")),
                (1, Token::Sign(b':')),
                (1, Token::Sign(b'=')),
                (1, Token::Text("x\\\"y")),
                (3, Token::Text("raw\n#")),
                (4, Token::Name("e")),
                (4, Token::Sign(b'[')),
                (4, Token::Text("f")),
                (4, Token::Sign(b']')),
                (4, Token::Sign(b'.')),
                (4, Token::Name("g")),
            ]
        );
    }

    #[test]
    fn a_number_is_one_token() {
        let found: Vec<_> = tokens("1e-5+x[0].y 12.5 a1").into_iter().map(|(_, token)| token).collect();
        assert_eq!(
            found,
            [
                Token::Number,
                Token::Sign(b'+'),
                Token::Name("x"),
                Token::Sign(b'['),
                Token::Number,
                Token::Sign(b']'),
                Token::Sign(b'.'),
                Token::Name("y"),
                Token::Number,
                Token::Name("a1"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in "[a1e+\"`#\\\\.é\n ]{0,40}") {
            let _ = tokens(&text);
        }
    }
}
