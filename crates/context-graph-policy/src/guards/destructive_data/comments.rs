//! Comments and strings of SQL.

/// The text without comments. The text in single quotes is removed too, unless `keeps_strings` is set. Comments that
/// start with one of `marks` end at the end of the line. A `/* … */` comment becomes a space; the text in `/*! … */`
/// is kept, because `MySQL` runs it. In strings a backslash may escape a quote: in those of `MySQL` if `escapes` says
/// so, in `E'…'` always.
pub(super) fn without(sql: &str, marks: &[&str], keeps_strings: bool, escapes: bool) -> String {
    let mut out = String::with_capacity(sql.len());
    let (mut rest, mut runs) = (sql, false);
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if let Some(run) = rest.strip_prefix("/*!") {
            out.push(' ');
            rest = run.trim_start_matches(|c: char| c.is_ascii_digit());
            runs = true;
        } else if let Some(behind) = rest.strip_prefix("*/").filter(|_| runs) {
            rest = behind;
            runs = false;
        } else if let Some(inside) = rest.strip_prefix("/*") {
            out.push(' ');
            rest = inside.split_once("*/").map_or("", |(_, behind)| behind);
        } else if marks.iter().any(|mark| rest.starts_with(mark)) {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if matches!(c, '"' | '`')
            && let Some((inside, behind)) =
                ended(after, c, escapes && c == '"').or_else(|| escapes.then_some((after, "")))
        {
            out.extend([&rest[..1], inside, &rest[..1]]);
            rest = behind;
        } else if c == '\'' {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let is_led = out.strip_suffix(['E', 'e']).is_some_and(|before| !before.ends_with(is_word));
            let (inside, behind) = ended(after, c, escapes || is_led).unwrap_or((after, ""));
            out.push(c);
            if keeps_strings {
                out.push_str(&without_blocks(inside));
            }
            out.push(c);
            rest = behind;
        } else {
            out.push(c);
            rest = after;
        }
    }
    out
}

/// What is before the closing quote, and what is behind it.
fn ended(text: &str, quote: char, escapes: bool) -> Option<(&str, &str)> {
    let mut behind_backslash = false;
    let (at, _) = text.char_indices().find(|(_, c)| {
        let ends = !behind_backslash && *c == quote;
        behind_backslash = escapes && !behind_backslash && *c == '\\';
        ends
    })?;
    Some((&text[..at], &text[at + 1..]))
}

/// Text in quotes without the comments in it. They matter if the text is run as a statement.
fn without_blocks(inside: &str) -> String {
    let mut parts = inside.split("/*");
    let first = parts.next().unwrap_or_default();
    let kept = parts.map(|part| part.split_once("*/").map_or("", |(_, behind)| behind));
    std::iter::once(first).chain(kept).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_lines_end_with_them_and_strings_hide_them() {
        assert_eq!(without("A -- B\nC", &["--"], false, false), "A \nC");
        assert_eq!(without("'--' \"--\" A", &["--"], true, false), "'--' \"--\" A");
        assert_eq!(without("A # B\nC", &["--", "#"], false, false), "A \nC");
        assert_eq!(without("A # B", &["--"], false, false), "A # B");
        assert_eq!(without("A/* B */C /*! D */", &[], false, false), "A C   D ");
    }

    #[test]
    fn quotes_and_comments_are_told_apart() {
        assert_eq!(without("'/*' A '*/'", &[], false, false), "'' A ''");
        assert_eq!(without("\"'\" A \"'\"", &[], false, false), "\"'\" A \"'\"");
        assert_eq!(without("/* ' */ A /* ' */", &[], false, false), "  A  ");
        assert_eq!(without("/* -- */ A -- /*\nB", &["--"], false, false), "  A \nB");
        assert_eq!(without("EXECUTE 'A/* b */B'", &[], true, false), "EXECUTE 'A B'");
    }

    #[test]
    fn a_backslash_escapes_where_the_database_says_so() {
        assert_eq!(without("'\\''; A; ''", &[], false, true), "''; A; ''");
        assert_eq!(without("'\\'; A; '", &[], false, false), "''; A; ''");
        assert_eq!(without("E'\\''; A", &[], false, false), "E''; A");
        assert_eq!(without("'\\\\'; A", &[], false, true), "''; A");
        assert_eq!(without("\"\\\"'\"; A; '", &[], false, true), "\"\\\"'\"; A; ''");
    }
}
