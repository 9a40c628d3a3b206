//! Breaks the lines of a help text between words if the terminal is narrower.

use unicode_width::UnicodeWidthStr as _;

use crate::terminal;

/// If a description has less room than this beside its option, it goes below.
const SHORTEST: usize = 24;
/// How far a description that goes below is indented.
const BELOW: usize = 8;

/// The text for a terminal of this width. Examples are not changed, because users copy them.
pub(crate) fn fitted(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let (mut out, mut is_example) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        // The lines of examples are indented below their heading.
        is_example = matches!(line, "Example:" | "Examples:") || is_example && line.starts_with(' ');
        if is_example || line.width() <= width {
            out.push_str(line);
        } else {
            out.push_str(&broken(line, width));
        }
        out.push('\n');
    }
    out
}

/// A line in several, the later ones below the beginning of its description.
fn broken(line: &str, width: usize) -> String {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let (name, description) = match text.split_once("  ") {
        Some((name, description)) if indent > 0 => (name, description.trim_start()),
        _ => ("", text),
    };
    let column = line.width() - description.width();
    let (head, column) = match name {
        "" => (line[..indent].to_owned(), indent),
        _ if column + SHORTEST <= width => (line[..line.len() - description.len()].to_owned(), column),
        name => (format!("{:indent$}{name}\n{:BELOW$}", "", ""), BELOW),
    };
    let room = width.saturating_sub(column).max(SHORTEST);
    let lines = terminal::wrapped(description, Some(room));
    let lines: Vec<&str> = lines.lines().map(str::trim_start).collect();
    format!("{head}{}", lines.join(&format!("\n{:column$}", "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "List what happened, newest last: each tool call once, and every other event\n\n\
        Usage: context-graph audit log [OPTIONS]\n\n\
        Options:\n      \
        --tool <NAME>  Calls of these tools; `mcp__github__*` for all that begin so, `*` for all calls\n      \
        --previous-session-id <ID>                    The session that a created one continues\n          \
        Not older than this: `2h`, `3d`, `today`, `2026-11-01` or another one\n\n\
        Examples:\n  \
        context-graph audit log --tool Bash --outcome failure --since 1d --all-projects\n";

    #[test]
    fn lines_break_between_words_below_their_description_and_examples_stay() {
        let fitted = fitted(HELP, Some(60));
        let (help, example) = fitted.split_once("Examples:\n").unwrap();
        assert!(help.lines().all(|line| line.width() <= 60), "{help}");
        assert!(example.lines().count() == 1 && HELP.ends_with(example), "{example}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&fitted), words(HELP));
        assert!(help.contains("\n                     for all that begin"), "{help}");
        assert!(help.contains("<ID>\n        The session"), "{help}");
    }

    #[test]
    fn what_fits_and_what_is_not_for_a_terminal_is_left_alone() {
        assert_eq!(fitted(HELP, None), HELP);
        assert_eq!(fitted(HELP, Some(200)), HELP);
    }
}
