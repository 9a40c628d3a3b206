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

/// Arguments that are values: positional ones, and those of all options outside `NOT_FILES`, such as `-Path` and
/// `-LiteralPath`. The value of `-Destination` comes last in the result, wherever it is on the command line.
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

/// Commands in parentheses: `-Body (Get-Content x)`, `"$(Get-Date; Get-Content x)"`. With each comes whether it gets what
/// the one before it lists. What stands after `$(` is always code; what stands after `(` alone may be values.
pub(super) fn nested(source: &str) -> Vec<(bool, String)> {
    let parts: Vec<&str> = source.split('(').take(33).collect();
    let is_command = |text: &str| {
        let first = text.split_whitespace().next().unwrap_or("");
        is_cmdlet(first) || matches!(first, "gc" | "cat" | "type" | "ri" | "rm" | "del" | "rd" | "sc" | "ac")
    };
    let commands = parts.windows(2).flat_map(|pair| {
        let inner = pair[1].split(')').next().unwrap_or("");
        if pair[0].ends_with('$') {
            statements(inner)
        } else if is_command(inner) {
            vec![(false, inner.to_owned())]
        } else {
            Vec::new()
        }
    });
    commands.collect()
}

/// Replaces the system's variables by the folders that they name.
pub(super) fn with_places(text: &str, shell: &Shell<'_>) -> String {
    let (home, cwd) = (shell.base.home, shell.cwd().known());
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

/// The script with plain quotes and dashes: PowerShell takes typographic ones for the same.
fn with_plain_marks(source: &str) -> String {
    let plain = |c| match c {
        '“' | '”' | '„' => '"',
        '‘' | '’' | '‚' | '‛' => '\'',
        '–' | '—' | '―' => '-',
        other => other,
    };
    source.chars().map(plain).collect()
}

/// The quote of a here-string that begins a text, and the text from the end of its first line.
fn here_string(text: &str) -> Option<(char, &str)> {
    let rest = text.strip_prefix('@')?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let body = rest[1..].trim_start_matches([' ', '\t', '\r']);
    body.starts_with('\n').then_some((quote, body))
}

/// The name in the braces of `${name}`, where `$name` means the same, and the text behind them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || "_:".contains(c);
    let text = text.strip_prefix("${")?;
    let (name, rest) = text.split_at(text.find(|c| !is_part(c))?);
    let rest = rest.strip_prefix('}').filter(|rest| !rest.starts_with(is_part))?;
    (!name.is_empty()).then_some((name, rest))
}

/// The script without comments, and with statements that go on in the next line written as one. Each string ends at the
/// next quote of its kind: here-strings become usual strings, and quotes in the code of a string other ones.
pub(super) fn without_comments(source: &str) -> String {
    let source = &*with_plain_marks(source);
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    // Strings, and in strings the parentheses of code: `"a $(b "c")"`.
    let mut open: Vec<char> = Vec::new();
    let mut is_closed = true;
    // A comment begins where a word may begin.
    let begins = |before: char| before.is_whitespace() || ";|{}(".contains(before);
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let next = after.chars().next();
        let before = out.chars().next_back();
        let until = |end: &str| after.find(end).map_or("", |at| &after[at..]);
        let inside = open.last().copied();
        let is_code = !matches!(inside, Some('"' | '\''));
        let in_string = open.first() == Some(&'"');
        let here = here_string(rest)
            .filter(|_| is_code && is_closed)
            .filter(|_| before.is_none_or(|before| begins(before) || "=,+&]".contains(before)));
        if let Some((quote, body)) = here {
            let end = body.find(&format!("\n{quote}@"));
            // The search is not repeated, because it costs time.
            is_closed = end.is_some();
            if let Some(end) = end {
                // A backtick at the end would escape the quote.
                let text = body[..end].trim_start_matches('\n').trim_end_matches(['`', '\r']);
                let other = if quote == '"' { "'" } else { "\"" };
                let whole = format!("{quote}{}{quote}", text.replace(quote, other));
                out.push_str(&if in_string { whole.replace('"', "'") } else { whole });
                rest = &body[end + "\n'@".len()..];
                continue;
            }
        }
        let whole = std::mem::replace(&mut rest, after);
        match c {
            '`' if is_code && after.trim_start_matches('\r').starts_with('\n') => {
                rest = after.trim_start_matches('\r').get(1..).unwrap_or("");
                out.push(' ');
                continue;
            }
            '<' if is_code && next == Some('#') => {
                rest = until("#>").get(2..).unwrap_or("");
                continue;
            }
            '#' if is_code && before.is_none_or(begins) => {
                rest = until("\n");
                continue;
            }
            '`' if inside != Some('\'') => {
                out.push(c);
                out.extend(next);
                rest = &after[next.map_or(0, char::len_utf8)..];
                continue;
            }
            '$' if inside != Some('\'')
                && let Some((name, behind)) = braced(whole) =>
            {
                out.push('$');
                out.push_str(name);
                rest = behind;
                continue;
            }
            '$' if inside == Some('"') && next == Some('(') => {
                open.push('(');
                out.push_str("$(");
                rest = &after[1..];
                continue;
            }
            '(' if inside == Some('(') => open.push(c),
            ')' if inside == Some('(') => drop(open.pop()),
            '"' | '\'' if is_code => open.push(c),
            _ if inside == Some(c) => drop(open.pop()),
            _ => {}
        }
        out.push(if c == '"' && in_string && !open.is_empty() { '\'' } else { c });
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
                // A line may end after the pipe.
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
