//! Recognises matchers that can never match a tool's name.
//!
//! The client compares plain words as a whole and treats anything else as a regular expression. An invalid
//! expression silently matches nothing.

/// Why a matcher for tool names can never match; `None` if it can.
pub(super) fn never_matches(matcher: &str) -> Option<&'static str> {
    if matcher.starts_with('!') {
        return Some("a matcher cannot be negated");
    }
    if matcher.split_once('(').is_some_and(|(tool, _)| is_word(tool)) && matcher.ends_with(')') {
        return Some("`Tool(pattern)` is how permissions are written; in a matcher it means nothing");
    }
    if is_list(matcher) {
        let lower =
            matcher.split(['|', ',']).map(str::trim).all(|word| !word.starts_with("mcp__") && is_lower(word));
        return lower.then_some("names of tools begin with a capital letter");
    }
    (!is_expression(matcher)).then_some("it is not a valid regular expression")
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn is_list(matcher: &str) -> bool {
    matcher.split(['|', ',']).map(str::trim).all(is_word)
}

fn is_lower(word: &str) -> bool {
    word.chars().next().is_some_and(|first| first.is_ascii_lowercase())
}

/// Whether all brackets are closed and every repetition has something to repeat.
fn is_expression(matcher: &str) -> bool {
    let mut open = 0_usize;
    let mut in_class = false;
    let mut before = None;
    let mut chars = matcher.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next().is_none() => return false,
            '\\' => {}
            ']' if in_class => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '(' => open += 1,
            ')' => match open.checked_sub(1) {
                Some(less) => open = less,
                None => return false,
            },
            '*' | '+' | '?'
                if matches!(before, None | Some('(' | '|')) && !(c == '?' && before == Some('(')) =>
            {
                return false;
            }
            _ => {}
        }
        before = Some(c);
    }
    open == 0 && !in_class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_was_seen_to_match_can_match() {
        for matcher in [
            "Bash",
            "Bash|Edit",
            "Read, Bash",
            "^Ba",
            ".*",
            "B.*h",
            "mcp__.*",
            "mcp__demo__*",
            "mcp__demo__ok",
            "Bash|mcp__demo__ok",
            "(Edit|Write)$",
            "(?:Edit)",
        ] {
            assert_eq!(never_matches(matcher), None, "{matcher}");
        }
    }

    #[test]
    fn what_the_client_was_seen_to_pass_over_is_named() {
        for (matcher, word) in [
            ("bash", "capital"),
            ("bash|edit", "capital"),
            ("!Bash", "negated"),
            ("Bash(echo *)", "permissions"),
            ("[bad", "regular expression"),
            ("(Bash", "regular expression"),
            ("*Bash*", "regular expression"),
            ("Bash)", "regular expression"),
            ("Bash\\", "regular expression"),
        ] {
            assert!(never_matches(matcher).is_some_and(|why| why.contains(word)), "{matcher}");
        }
    }
}
