//! Whether text with unknown pieces can be a path that matches a pattern.
//!
//! A pattern has `?` (one character), `*` (within a name) and `**` (across folders). Pattern and text run as
//! automata over the same string, so that a glob in the command is compared correctly with a glob in the rule.
//! No tables are built.

use super::text::{Piece, Text};

/// Longer patterns are refused when they are read.
pub const MAX_PATTERN: usize = 120;

/// Positions in the pattern, one bit each.
type States = u128;

/// Whether a literal path matches. Case is ignored, because some file systems ignore it.
pub fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.as_bytes();
    if pattern.len() > MAX_PATTERN {
        return false;
    }
    let mut states = close(pattern, 1);
    for c in path.bytes() {
        states = step(pattern, states, Symbol::Byte(c.to_ascii_lowercase()));
        if states == 0 {
            return false;
        }
    }
    states & (1 << pattern.len()) != 0
}

/// Whether any possible value of the text matches.
pub fn overlaps(pattern: &str, text: &Text) -> bool {
    if pattern.len() > MAX_PATTERN || !end_alike(pattern, text) {
        return false;
    }
    let pattern = pattern.as_bytes();
    let mut states = close(pattern, 1);
    let mut pieces = text.0.as_slice();
    let mut at_start = true;
    // A leading `**` matches everything before the last unknown piece. That piece may match any part of the
    // pattern.
    if pattern.starts_with(b"**")
        && let Some(hole) = pieces.iter().rposition(|piece| matches!(piece, Piece::Hole(_)))
    {
        states = (2 << pattern.len()) - 1;
        pieces = &pieces[hole + 1..];
        at_start = false;
    }
    for piece in pieces {
        match piece {
            Piece::Lit(known) => {
                for c in known.bytes() {
                    states = step(pattern, states, Symbol::Byte(c.to_ascii_lowercase()));
                    if states == 0 {
                        return false;
                    }
                }
                at_start = known.ends_with('/');
            }
            // A glob at the start of a name does not match a leading dot.
            Piece::One => {
                states = step(pattern, states, if at_start { Symbol::NotDot } else { Symbol::InName });
            }
            Piece::Star => {
                let first = step(pattern, states, if at_start { Symbol::NotDot } else { Symbol::InName });
                states |= saturate(pattern, first, Symbol::InName);
            }
            Piece::Hole(_) => states = saturate(pattern, states, Symbol::Any),
        }
        if !matches!(piece, Piece::Lit(_)) {
            at_start = false;
        }
        if states == 0 {
            return false;
        }
    }
    states & (1 << pattern.len()) != 0
}

/// Whether the known ends are compatible. A cheap test: most patterns and paths end in different plain text.
pub fn end_alike(pattern: &str, text: &Text) -> bool {
    let Some(Piece::Lit(known)) = text.0.last() else { return true };
    let fixed = pattern.bytes().rev().take_while(|byte| !matches!(byte, b'*' | b'?'));
    fixed.zip(known.bytes().rev()).all(|(wanted, found)| wanted.eq_ignore_ascii_case(&found))
}

#[derive(Clone, Copy)]
enum Symbol {
    Byte(u8),
    NotDot,
    InName,
    Any,
}

impl Symbol {
    fn can_be(self, wanted: u8) -> bool {
        match self {
            Self::Byte(c) => c == wanted.to_ascii_lowercase(),
            Self::NotDot => wanted != b'.' && wanted != b'/',
            Self::InName => wanted != b'/',
            Self::Any => true,
        }
    }

    fn can_be_in_name(self) -> bool {
        !matches!(self, Self::Byte(b'/'))
    }
}

/// All states reachable by any number of steps, including none.
fn saturate(pattern: &[u8], mut states: States, symbol: Symbol) -> States {
    let mut fresh = states;
    while fresh != 0 {
        fresh = step(pattern, fresh, symbol) & !states;
        states |= fresh;
    }
    states
}

fn step(pattern: &[u8], states: States, symbol: Symbol) -> States {
    let mut next: States = 0;
    let mut stayed: States = 0;
    let mut left = states;
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        match pattern.get(at) {
            // After one symbol `**` continues or ends. Only at its start may `**/` match no folder.
            Some(b'*') if pattern.get(at + 1) == Some(&b'*') => stayed |= 1 << at | 1 << (at + 2),
            Some(b'*') if symbol.can_be_in_name() => {
                next |= 1 << at;
            }
            Some(b'?') if symbol.can_be_in_name() => {
                next |= 1 << (at + 1);
            }
            Some(c) if symbol.can_be(*c) => {
                next |= 1 << (at + 1);
            }
            _ => {}
        }
    }
    close(pattern, next) | stayed
}

/// Stars may match nothing; `**/` may match no folder.
fn close(pattern: &[u8], mut states: States) -> States {
    let mut left = states;
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        left &= left - 1;
        if pattern.get(at) != Some(&b'*') {
            continue;
        }
        let deep = pattern.get(at + 1) == Some(&b'*');
        let mut reached: States = 1 << (at + 1 + usize::from(deep));
        if deep && pattern.get(at + 2) == Some(&b'/') && (at == 0 || pattern[at - 1] == b'/') {
            reached |= 1 << (at + 3);
        }
        left |= reached & !states;
        states |= reached;
    }
    states
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy as _;

    use super::*;
    use crate::effects::text::Origin;

    fn globbed(text: &str) -> Text {
        let mut value = Text::default();
        value.push_globbed(text);
        value
    }

    #[test]
    fn stars_stay_in_a_name_and_double_stars_do_not() {
        assert!(matches("/a/*.rs", "/a/b.rs"));
        assert!(!matches("/a/*.rs", "/a/b/c.rs"));
        assert!(matches("**/.env", "/a/b/.env"));
        assert!(matches("/a/**/c", "/a/c"));
        assert!(matches("/a/**", "/a/b/c"));
        assert!(matches("**/.ENV", "/x/.env"));
        assert!(!matches("**/.env", "/x/a.env"));
    }

    #[test]
    fn globs_on_both_sides_meet() {
        assert!(overlaps("**/.env", &globbed("/p/.e*")));
        assert!(overlaps("**/.env", &globbed("/p/.e?v")));
        assert!(!overlaps("**/.env", &globbed("/p/*")));
        assert!(!overlaps("**/.env", &globbed("/p/.e?")));
    }

    /// The simple algorithm: every piece of the text in turn, every state at every step.
    fn overlaps_plainly(pattern: &str, text: &Text) -> bool {
        let pattern = pattern.as_bytes();
        let repeat = |mut states: States, symbol| loop {
            let next = states | step(pattern, states, symbol);
            if next == states {
                return states;
            }
            states = next;
        };
        let (mut states, mut at_start) = (close(pattern, 1), true);
        for piece in &text.0 {
            let first = if at_start { Symbol::NotDot } else { Symbol::InName };
            at_start = matches!(piece, Piece::Lit(known) if known.ends_with('/'));
            states = match piece {
                Piece::Lit(known) => known
                    .bytes()
                    .fold(states, |states, c| step(pattern, states, Symbol::Byte(c.to_ascii_lowercase()))),
                Piece::One => step(pattern, states, first),
                Piece::Star => states | repeat(step(pattern, states, first), Symbol::InName),
                Piece::Hole(_) => repeat(states, Symbol::Any),
            };
        }
        states & (1 << pattern.len()) != 0
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 20_000, ..Default::default() })]

        #[test]
        fn shortcuts_change_nothing(
            pattern in "(\\*\\*/|/|)([ab.*?/]|\\*\\*|/\\*\\*){0,7}",
            pieces in proptest::collection::vec(proptest::prop_oneof![
                3 => "[abAB./]{0,4}".prop_map(Piece::Lit),
                1 => proptest::strategy::Just(Piece::One),
                1 => proptest::strategy::Just(Piece::Star),
                1 => proptest::strategy::Just(Piece::Hole(Origin::Output)),
            ], 0..6),
        ) {
            // Three stars mean the same as two, but the two algorithms may differ on them.
            let mut pattern: String = pattern;
            while pattern.contains("***") {
                pattern = pattern.replace("***", "**");
            }
            let text = Text(pieces);
            proptest::prop_assert_eq!(overlaps(&pattern, &text), overlaps_plainly(&pattern, &text));
        }
    }

    #[test]
    fn holes_can_be_anything() {
        let mut text = Text::lit("/p/");
        text.push(Piece::Hole(Origin::Output));
        text.push_str("-graph");
        assert!(overlaps("/p/.context-graph", &text));
        assert!(!overlaps("/p/.context", &text));
    }
}
