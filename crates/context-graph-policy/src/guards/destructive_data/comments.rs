//! Comments and strings of SQL.

/// The text without comments, and without what is in single quotes unless that is kept. `marks` begin comments that
/// end with their line. `/* … */` separates and hides words; `MySQL` runs what is in `/*! … */`.
pub(super) fn without(sql: &str, marks: &[&str], keeps_strings: bool) -> String {
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
        } else if let (true, Some((inside, behind))) = (matches!(c, '"' | '`'), after.split_once(c)) {
            out.extend([&rest[..1], inside, &rest[..1]]);
            rest = behind;
        } else if c == '\'' {
            let (inside, behind) = after.split_once(c).unwrap_or((after, ""));
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

/// Text in quotes without the comments in it, which count where it is run.
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
        assert_eq!(without("A -- B\nC", &["--"], false), "A \nC");
        assert_eq!(without("'--' \"--\" A", &["--"], true), "'--' \"--\" A");
        assert_eq!(without("A # B\nC", &["--", "#"], false), "A \nC");
        assert_eq!(without("A # B", &["--"], false), "A # B");
        assert_eq!(without("A/* B */C /*! D */", &[], false), "A C   D ");
    }

    #[test]
    fn quotes_and_comments_are_told_apart() {
        assert_eq!(without("'/*' A '*/'", &[], false), "'' A ''");
        assert_eq!(without("\"'\" A \"'\"", &[], false), "\"'\" A \"'\"");
        assert_eq!(without("/* ' */ A /* ' */", &[], false), "  A  ");
        assert_eq!(without("/* -- */ A -- /*\nB", &["--"], false), "  A \nB");
        assert_eq!(without("EXECUTE 'A/* b */B'", &[], true), "EXECUTE 'A B'");
    }
}
