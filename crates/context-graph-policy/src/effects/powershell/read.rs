//! Splits PowerShell into statements and words.

use super::is_cmdlet;
use super::plain::replaced_name;
use crate::effects::shell::Shell;
use crate::effects::{Origin, Piece, Text};

/// Options whose value is not a file.
const NOT_FILES: &[&str] = &[
    "-value",
    "-encoding",
    "-erroraction",
    "-itemtype",
    "-pattern",
    "-method",
    "-body",
    "-headers",
    "-ea",
    "-filter",
    "-include",
    "-exclude",
];

/// Arguments that are values: positional ones and those of `-Path`, `-LiteralPath`, `-FilePath`. The value of
/// `-Destination` is the last of them, wherever it stands.
pub(super) fn operands(args: &[Text]) -> Vec<Text> {
    let (mut out, mut last) = (Vec::new(), None);
    let mut before = String::new();
    for arg in args {
        let text = arg.known().to_ascii_lowercase();
        if matches!(text.as_str(), ">" | ">>" | "2>") {
            break;
        }
        let option = std::mem::take(&mut before);
        if NOT_FILES.contains(&option.as_str()) || matches!(text.as_str(), "/s" | "/q" | "/f") {
            continue;
        }
        if let Some((option, value)) = arg.split_once(':').filter(|_| text.starts_with('-')) {
            let option = option.known().to_ascii_lowercase();
            if !NOT_FILES.contains(&option.as_str()) && !value.prefix().starts_with('$') {
                out.push(slashed(&value));
            }
        } else if text.starts_with('-') && text.len() > 1 {
            before = text;
        } else if matches!(text.as_str(), "$true" | "$false") {
            // The value of a switch.
        } else if option.starts_with("-dest") {
            last = Some(slashed(arg));
        } else {
            out.push(slashed(arg));
        }
    }
    out.extend(last);
    out
}

/// The value of an option, which may be abbreviated.
pub(super) fn valued<'a>(args: &'a [Text], option: &str) -> Option<&'a Text> {
    let is_it = |text: &str| text.len() > 1 && text.starts_with('-') && option.starts_with(text);
    let pair = args.windows(2).find(|pair| is_it(&pair[0].known().to_ascii_lowercase()))?;
    Some(&pair[1])
}

pub(super) fn slashed(text: &Text) -> Text {
    let mut out = Text::default();
    for piece in &text.0 {
        match piece {
            Piece::Lit(known) => out.push_str(&known.replace('\\', "/")),
            other => out.push(other.clone()),
        }
    }
    out
}

/// Commands in parentheses: `-Body (Get-Content x)`.
pub(super) fn nested(source: &str) -> Vec<String> {
    let inner = source.split('(').skip(1).take(32).filter_map(|rest| rest.split(')').next());
    let is_command = |text: &&str| {
        let first = text.split_whitespace().next().unwrap_or("");
        is_cmdlet(first) || matches!(first, "gc" | "cat" | "type" | "ri" | "rm" | "del" | "rd" | "sc" | "ac")
    };
    inner.filter(is_command).map(str::to_owned).collect()
}

/// Replaces the system's variables by the folders they stand for.
pub(super) fn with_places(text: &str, shell: &Shell<'_>) -> String {
    let (home, cwd) = (shell.places.home, shell.cwd().known());
    let profile = format!("{home}/.config/powershell/profile.ps1");
    let places = [
        ("$env:userprofile", home),
        ("${env:userprofile}", home),
        ("%userprofile%", home),
        ("$env:home", home),
        ("$home", home),
        ("$env:temp", "/tmp"),
        ("$env:systemdrive", "C:"),
        ("$pwd", cwd),
        ("$profile", &profile),
    ];
    places.iter().fold(text.to_owned(), |text, (name, place)| {
        if text.contains(['$', '%']) { replaced_name(&text, name, place) } else { text }
    })
}

/// Commands that look up, print or search. Their arguments are not run.
const TELLING: &[&str] = &[
    "#",
    "echo",
    "findstr",
    "gal",
    "gcm",
    "get-alias",
    "get-command",
    "get-help",
    "git",
    "grep",
    "help",
    "man",
    "rg",
    "select-string",
    "sls",
    "write-debug",
    "write-error",
    "write-host",
    "write-information",
    "write-output",
    "write-verbose",
    "write-warning",
];

/// The script without statements that only print or search. A statement that computes something stays.
pub(super) fn without_sayings(source: &str) -> String {
    let is_said = |statement: &String| {
        let statement = statement.trim_start();
        let first = statement.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let quoted = statement.trim_end().ends_with('\'') && statement.starts_with('\'');
        !statement.contains('(') && (TELLING.contains(&first.as_str()) || first.starts_with('#') || quoted)
    };
    let all = statements(source).into_iter().map(|(_, statement)| statement);
    all.filter(|statement| !is_said(statement)).collect::<Vec<_>>().join("\n")
}

/// The script without comments, and with statements that go on in the next line written as one.
pub(super) fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    let mut quote = None;
    let mut is_closed = true;
    // A comment begins where a word may begin.
    let begins = |before: char| before.is_whitespace() || ";|{}(".contains(before);
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let next = after.chars().next();
        let until = |end: &str| after.find(end).map_or("", |at| &after[at..]);
        // Text between `@'` and `'@`, each at the end or the start of a line, may hold quotes.
        let here = next.filter(|q| c == '@' && matches!(q, '"' | '\''));
        let here = here.filter(|_| is_closed && quote.is_none());
        let here = here.filter(|_| after[1..].trim_start_matches([' ', '\r']).starts_with('\n'));
        let end = here.and_then(|open| after.find(&format!("\n{open}@")));
        // The search is not repeated, because it costs time.
        is_closed &= here.is_none() || end.is_some();
        if let Some(end) = end {
            out.push_str(&rest[..=end + "\n'@".len()]);
            rest = &after[end + "\n'@".len()..];
            continue;
        }
        rest = after;
        match (quote, c) {
            (None, '`') if after.trim_start_matches('\r').starts_with('\n') => {
                rest = after.trim_start_matches('\r').get(1..).unwrap_or("");
                out.push(' ');
                continue;
            }
            (None, '<') if next == Some('#') => {
                rest = until("#>").get(2..).unwrap_or("");
                continue;
            }
            (None, '#') if out.chars().next_back().is_none_or(begins) => {
                rest = until("\n");
                continue;
            }
            (None | Some('"'), '`') => {
                out.push(c);
                out.extend(next);
                rest = &after[next.map_or(0, char::len_utf8)..];
                continue;
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            _ => {}
        }
        out.push(c);
    }
    out
}

/// The statements, and whether each may get what the one before it lists: through a pipe, or in its block.
pub(super) fn statements(source: &str) -> Vec<(bool, String)> {
    let mut out = vec![(false, String::new())];
    let mut quote = None;
    let mut depth = 0usize;
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '`' && quote != Some('\'') { chars.next() } else { None };
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '|' | '\n' | '{' | '}') => {
                depth = match c {
                    '{' => depth + 1,
                    '}' => depth.saturating_sub(1),
                    _ => depth,
                };
                // A line may end behind the pipe.
                let goes_on = out.last().is_some_and(|(is_fed, text)| *is_fed && text.trim().is_empty());
                out.push((goes_on || depth > 0 || matches!(c, '|' | '{'), String::new()));
                continue;
            }
            _ => {}
        }
        if let Some((_, last)) = out.last_mut() {
            last.push(c);
            last.extend(escaped);
        }
    }
    out
}

pub(super) fn words(statement: &str, shell: &Shell<'_>) -> Vec<Text> {
    let mut out: Vec<Text> = Vec::new();
    let mut word: Option<String> = None;
    let mut bare = true;
    let mut quote = None;
    let mut chars = statement.chars().chain([' ']);
    let finish = |text: String, bare: bool| {
        let mut made = Text::default();
        let text = with_places(&text, shell);
        let is_switch = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "$true" | "$false");
        if let Some(at) = text.find('$').filter(|at| !is_switch(&text[*at..])) {
            made.push_str(&text[..at]);
            made.push(Piece::Hole(Origin::Variable));
            let rest: String = text[at + 1..]
                .chars()
                .skip_while(|c| c.is_alphanumeric() || "_:.(){}".contains(*c))
                .collect();
            made.push_str(&rest);
        } else if bare && text != "?" {
            // Here a backslash separates folders and escapes nothing.
            made.push_globbed(&text.replace('\\', "/"));
        } else {
            made.push_str(&text);
        }
        made
    };
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => quote = None,
            Some('"') if c == '`' => word.get_or_insert_default().extend(chars.next()),
            Some(_) => word.get_or_insert_default().push(c),
            None => match c {
                '"' | '\'' => {
                    quote = Some(c);
                    bare = false;
                    word.get_or_insert_default();
                }
                '`' => word.get_or_insert_default().extend(chars.next()),
                ' ' | '\t' | ',' | '\r' => {
                    if let Some(text) = word.take() {
                        out.push(finish(text, bare));
                    }
                    bare = true;
                }
                _ => word.get_or_insert_default().push(c),
            },
        }
    }
    out
}
