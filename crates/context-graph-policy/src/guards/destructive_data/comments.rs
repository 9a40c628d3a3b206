//! Comments and strings of SQL.

/// The text without its strings in single quotes.
pub(super) fn without_strings(sql: &str) -> String {
    sql.split('\'').step_by(2).collect::<Vec<_>>().join("''")
}

/// The text without `/* … */`, which separates and hides words. `MySQL` runs what is in `/*! … */`.
pub(super) fn without_blocks(sql: &str) -> String {
    let mut out = String::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        out.push(' ');
        let (inside, behind) = after.split_once("*/").unwrap_or((after, ""));
        if let Some(run) = inside.strip_prefix('!') {
            out.push_str(run.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The text without comments that end with their line: `-- …`, and with `has_hash` also `# …`.
pub(super) fn without_lines(sql: &str, has_hash: bool) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut quote = None;
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        let begins = c == '-' && rest.peek() == Some(&'-') || has_hash && c == '#';
        if quote.is_none() && begins {
            while rest.next_if(|c| *c != '\n').is_some() {}
            continue;
        }
        if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && matches!(c, '\'' | '"' | '`') {
            quote = Some(c);
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_lines_end_with_them_and_strings_hide_them() {
        assert_eq!(without_lines("A -- B\nC", false), "A \nC");
        assert_eq!(without_lines("'--' \"--\" A", false), "'--' \"--\" A");
        assert_eq!(without_lines("A # B\nC", true), "A \nC");
        assert_eq!(without_lines("A # B", false), "A # B");
        assert_eq!(without_blocks("A/* B */C /*! D */"), "A C   D ");
    }
}
