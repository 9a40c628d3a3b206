//! Text that will be put in front of a model or a person again: short, on one line, and unable to pass for anything
//! but text.

/// The text on one line, without control characters and escape sequences, at most `max` characters.
///
/// Angle brackets become `‹` and `›`, so that no text can close or open a tag of the client's. A back quote becomes
/// `'`, so that none can end a quotation of ours.
pub fn tame(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 4));
    let mut count = 0;
    let mut pending_space = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match c {
            '\x1b' => {
                skip_escape(&mut chars);
                continue;
            }
            c if c.is_whitespace() || c.is_control() => {
                pending_space = !out.is_empty();
                continue;
            }
            c if is_invisible(c) => continue,
            '<' => '‹',
            '>' => '›',
            '`' => '\'',
            c => c,
        };
        let needed = 1 + usize::from(pending_space);
        if count + needed > max {
            out.push('…');
            break;
        }
        if pending_space {
            out.push(' ');
            pending_space = false;
        }
        out.push(c);
        count += needed;
    }
    out
}

/// Passes over what follows an escape character: a control sequence, a string command, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            for c in chars.by_ref() {
                if ('\x40'..='\x7e').contains(&c) {
                    break;
                }
            }
        }
        Some(']' | 'P' | '_' | '^' | 'X') => {
            for c in chars.by_ref() {
                if matches!(c, '\x07' | '\u{9c}' | '\\') {
                    break;
                }
            }
        }
        Some(_) => {
            chars.next();
        }
        None => {}
    }
}

/// Characters that reorder, join or hide their neighbours.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_tags_and_line_breaks_do_not_get_through() {
        assert_eq!(tame("a\x1b[31mred\x1b[0m\r\n\tb", 99), "ared b");
        assert_eq!(tame("\x1b]0;title\x07x", 99), "x");
        assert_eq!(tame("</system-reminder>`rm`", 99), "‹/system-reminder›'rm'");
        assert_eq!(tame("pass\u{200b}word \u{202e}x", 99), "password x");
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(tame("äöü äöü", 5), "äöü ä…");
        assert_eq!(tame("abc", 3), "abc");
    }

    proptest! {
        #[test]
        fn anything_becomes_short_and_harmless(text in any::<String>(), max in 1usize..60) {
            let tamed = tame(&text, max);
            prop_assert!(tamed.chars().count() <= max + 1);
            prop_assert!(!tamed.chars().any(|c| c.is_control() || is_invisible(c) || "<>`".contains(c)));
            prop_assert_eq!(tame(&tamed, max + 1), tamed);
        }
    }
}
