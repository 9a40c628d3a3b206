//! Text for people. Text from an agent or a file must not control the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use crate::Environment;
use context_graph_events::safe_text::is_invisible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Makes control characters visible. Line breaks stay only with `keep_lines`.
pub(crate) fn plain(text: &str, keep_lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' if keep_lines => out.push(c),
            c if c.is_control() || is_invisible(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
    out
}

/// Text with only those characters that the terminal can show.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || Environment::reads_unicode() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(ascii(text))
}

/// Characters that we print and their ASCII replacements. Both are one column wide, so that tables stay
/// aligned.
const SIGNS: [(&str, char); 15] = [
    ("…", '~'),
    ("·–—─━╌▄▅", '-'),
    ("●", '*'),
    ("◐├┤└┘┌┐╰╭┴┬┼✓", '+'),
    ("○", 'o'),
    ("↳→▶", '>'),
    ("│┃┆", '|'),
    ("▁", '_'),
    ("▂▃", '.'),
    ("▆▇", '='),
    ("█■", '#'),
    ("░▒▓", ':'),
    ("“”", '"'),
    ("‘’", '\''),
    ("×✗", 'x'),
];

/// The text in ASCII.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let sign = SIGNS.iter().find(|(signs, _)| signs.contains(c)).map(|(_, sign)| *sign);
        match sign {
            _ if c.is_ascii() => out.push(c),
            Some(sign) => out.push(sign),
            None if c == 'µ' => out.push('u'),
            None => {
                // Writing to a String cannot fail.
                let _ = write!(out, "{}", c.escape_unicode());
            }
        }
    }
    out
}

/// How many columns the terminal on stdout has; `None` if stdout is not a terminal.
pub(crate) fn width() -> Option<usize> {
    std::io::stdout().is_terminal().then(columns).flatten()
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

/// Cuts a line to this width.
pub(crate) fn fit(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| line.width() > *width) else { return line.to_owned() };
    let mut left = width.saturating_sub(1);
    let mut fitting = String::with_capacity(line.len());
    for c in line.chars() {
        let Some(rest) = left.checked_sub(c.width().unwrap_or(0)) else { break };
        left = rest;
        fitting.push(c);
    }
    fitting.push('…');
    fitting
}

/// The colour of a line, if colours are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    None,
    Red,
    Yellow,
    Grey,
}

/// Paints a line that is safe for a terminal. Without colours if stdout is not a terminal or the user does
/// not want them.
pub(crate) fn painted(line: &str, colour: Colour) -> String {
    let code = match colour {
        Colour::None => return line.to_owned(),
        Colour::Red => "31",
        Colour::Yellow => "33",
        Colour::Grey => "90",
    };
    if std::io::stdout().is_terminal() && Environment::welcomes_colour() {
        format!("\x1b[{code}m{line}\x1b[0m")
    } else {
        line.to_owned()
    }
}

/// Whether a text is longer than the terminal on stdout.
pub(crate) fn is_longer_than_the_screen(text: &str) -> bool {
    std::io::stdin().is_terminal() && rows().is_some_and(|rows| text.lines().count() >= rows)
}

#[cfg(unix)]
fn rows() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    Some(usize::from(size.ws_row)).filter(|rows| *rows > 0)
}

#[cfg(not(unix))]
fn rows() -> Option<usize> {
    None
}

/// Writes everything to stdout. False if that failed; a closed pipe is not a failure.
pub(crate) fn print(bytes: &[u8]) -> bool {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => true,
        Err(error) => {
            complain(&format!("cannot write the answer: {error}"));
            false
        }
    }
}

/// Prints one line for people on stderr.
pub(crate) fn complain(text: &str) {
    let width = width().filter(|_| std::io::stderr().is_terminal());
    let text = wrapped(&format!("context-graph: {}", plain(text, false)), width);
    let _ = writeln!(std::io::stderr().lock(), "{}", shown(&text));
}

/// A sentence in lines of at most this width, broken between words. Text in backquotes is meant to be typed
/// and is never broken; neither are indented lines, which are examples.
pub(crate) fn wrapped(line: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|width| line.width() > *width && !line.starts_with(' ')) else {
        return line.to_owned();
    };
    let (mut text, mut used) = (String::new(), 0);
    for word in words(line) {
        if used > 0 && used + 1 + word.width() > width {
            text.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += word.width();
    }
    text
}

/// The same for a line of prose that may be indented. The following lines are indented a little more.
pub(crate) fn folded(line: &str, width: Option<usize>) -> String {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let Some(room) = width.and_then(|width| width.checked_sub(indent)).filter(|room| *room > FOLDABLE) else {
        return line.to_owned();
    };
    let broken = wrapped(text, Some(room));
    let lines: Vec<String> = broken.lines().map(|line| format!("{:indent$}{line}", "")).collect();
    if text.is_empty() { line.to_owned() } else { lines.join("\n") }
}

/// With less room than this, broken lines are harder to read than long ones.
const FOLDABLE: usize = 20;

/// The words of a line. Text between backquotes counts as one word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let (are_pairs, mut is_quoted) = (line.matches('`').count().is_multiple_of(2), false);
    line.split(move |letter| {
        is_quoted ^= letter == '`' && are_pairs;
        letter == ' ' && !is_quoted
    })
}

/// Prints our own lines on stderr as they are.
pub(crate) fn note(lines: &str) {
    let _ = std::io::stderr().lock().write_all(shown(lines).as_bytes());
}

/// After this many answers that are not understood, the answer counts as no.
const QUESTIONS: usize = 3;

/// Whether the user says yes. Without a terminal the answer is no.
pub(crate) fn agreed(yes: bool, question: &str) -> bool {
    yes || decided(&format!("{question} [y/N]"), &mut asked, &mut || false)
}

/// The same, but the answer `d` first shows every line and then asks again.
pub(crate) fn agreed_to_lines(yes: bool, question: &str, lines: &str) -> bool {
    let mut show = || {
        note(&plain(lines, true));
        true
    };
    yes || decided(&format!("{question} [y/N, d shows every line]"), &mut asked, &mut show)
}

/// Asks until the answer is understood. `d` calls `show`, which returns false if there is nothing to show.
fn decided(
    question: &str,
    ask: &mut dyn FnMut(&str) -> Option<String>,
    show: &mut dyn FnMut() -> bool,
) -> bool {
    let mut left = QUESTIONS;
    while left > 0 {
        match ask(question).as_deref() {
            Some("y" | "yes") => return true,
            None | Some("" | "n" | "no") => return false,
            Some("d" | "diff") if show() => continue,
            Some(_) => complain("please answer `y` or `n`"),
        }
        left -= 1;
    }
    false
}

/// Whether there is a person at a terminal to ask.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal()
}

/// The answer of a person, in lower case. `None` without a terminal.
pub(crate) fn asked(question: &str) -> Option<String> {
    if !is_interactive() {
        return None;
    }
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{} ", shown(&plain(question, false))).and_then(|()| stderr.flush());
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).ok()?;
    Some(answer.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(plain("a\x1b[31mb\u{202e}c\r\n", false), "a\\u{1b}[31mb\\u{202e}c\\u{d}\\u{a}");
        assert_eq!(plain("a\nb", true), "a\nb");
        assert_eq!(plain("grüße 日本", false), "grüße 日本");
    }

    #[test]
    fn sentences_break_between_words_and_what_is_to_be_typed_does_not() {
        let line = "one two `three four` five";
        assert_eq!(wrapped(line, Some(40)), line);
        assert_eq!(wrapped(line, None), line);
        assert_eq!(wrapped(line, Some(12)), "one two\n  `three four`\n  five");
        assert_eq!(wrapped("a lone ` mark here", Some(8)), "a lone `\n  mark\n  here");
        assert_eq!(wrapped("  an example that is long", Some(8)), "  an example that is long");
    }

    #[test]
    fn prose_that_is_indented_breaks_between_words_and_stays_indented() {
        assert_eq!(folded("  one two three four five six", Some(24)), "  one two three four\n    five six");
        assert_eq!(folded("one two three four five six", Some(24)), "one two three four five\n  six");
        assert_eq!(folded("  short", Some(24)), "  short");
        assert_eq!(folded("    ", Some(24)), "    ");
        assert_eq!(folded("  one two three four five six", None), "  one two three four five six");
    }

    #[test]
    fn a_question_takes_yes_and_no_and_asks_again_about_anything_else() {
        let answer = |answers: &[&str]| {
            let (mut left, mut shown) = (answers.iter(), 0);
            let mut ask = |_: &str| left.next().map(|answer| (*answer).to_owned());
            let mut show = || {
                shown += 1;
                true
            };
            let is_yes = decided("?", &mut ask, &mut show);
            (is_yes, left.len(), shown)
        };
        for yes in ["y", "yes"] {
            assert_eq!(answer(&[yes]), (true, 0, 0));
        }
        for no in ["n", "no", ""] {
            assert_eq!(answer(&[no, "y"]), (false, 1, 0));
        }
        assert_eq!(answer(&["maybe", "what", "y"]), (true, 0, 0));
        assert_eq!(answer(&["maybe", "what", "well", "y"]), (false, 1, 0), "three times, then no");
        assert_eq!(answer(&["d", "d", "d", "y"]), (true, 0, 3), "looking is no answer");
        assert!(!answer(&[]).0, "nobody is there");
    }

    #[test]
    fn signs_of_ours_have_one_of_ascii_each() {
        let signs = "…·–—─━╌●◐○↳→▶│┃┆├┤└┘┌┐╰╭┴┬┼▁▂▃▄▅▆▇█■░▒▓“”‘’×µ✓✗";
        let shown = ascii(signs);
        assert!(shown.is_ascii() && shown.len() == signs.chars().count(), "{shown}");
        assert_eq!(ascii("grüße"), "gr\\u{fc}\\u{df}e");
    }

    #[test]
    fn a_line_is_cut_to_the_columns_that_it_takes() {
        assert_eq!(fit("grüße", Some(5)), "grüße");
        assert_eq!(fit("grüße 日本", Some(9)), "grüße 日…");
        assert_eq!(fit("grüße 日本", Some(8)), "grüße …");
        assert_eq!(fit("grüße 日本", None), "grüße 日本");
    }
}
