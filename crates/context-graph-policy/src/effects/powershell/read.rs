//! Splits PowerShell into statements and words.

use super::is_cmdlet;
use crate::effects::shell::Shell;
use crate::effects::{Origin, Piece, Text};

/// Arguments that are values: positional ones and those of `-Path`, `-LiteralPath`, `-FilePath`,
/// `-Destination`.
pub(super) fn operands(args: &[Text]) -> Vec<Text> {
    let mut out = Vec::new();
    let mut skip = false;
    for arg in args {
        let text = arg.known().to_ascii_lowercase();
        if matches!(text.as_str(), ">" | ">>" | "2>") {
            break;
        }
        if skip {
            skip = false;
            continue;
        }
        if text.starts_with('-') && text.len() > 1 {
            skip = matches!(
                text.as_str(),
                "-value"
                    | "-encoding"
                    | "-erroraction"
                    | "-itemtype"
                    | "-pattern"
                    | "-method"
                    | "-body"
                    | "-headers"
                    | "-ea"
                    | "-filter"
                    | "-include"
                    | "-exclude"
            );
            continue;
        }
        if text == "/s" || text == "/q" || text == "/f" {
            continue;
        }
        out.push(slashed(arg));
    }
    out
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
    inner.filter(|text| is_cmdlet(text.split_whitespace().next().unwrap_or(""))).map(str::to_owned).collect()
}

/// Fills in variables that were set to plain text, and remembers those that the statement sets.
pub(super) fn with_values(statement: &str, values: &mut Vec<(String, String)>) -> String {
    if let Some((name, value)) = statement.trim().strip_prefix('$').and_then(|rest| rest.split_once('=')) {
        let (name, value) = (name.trim(), value.trim());
        let plain = value.len() > 2 && value.starts_with(['\'', '"']) && value.ends_with(['\'', '"']);
        if plain && !value.contains('$') && name.chars().all(char::is_alphanumeric) && values.len() < 16 {
            values.push((format!("${name}"), value[1..value.len() - 1].to_owned()));
        }
        return statement.to_owned();
    }
    values.iter().fold(statement.to_owned(), |text, (name, value)| {
        if text.len() < 16 * 1024 { text.replace(name.as_str(), value) } else { text }
    })
}

/// Replaces the system's variables by the folders they stand for.
pub(super) fn with_places(text: &str, shell: &Shell<'_>) -> String {
    let (home, cwd) = (shell.places.home, shell.cwd().known());
    let places = [
        ("$env:USERPROFILE", home),
        ("${env:USERPROFILE}", home),
        ("%USERPROFILE%", home),
        ("$env:HOME", home),
        ("$HOME", home),
        ("$env:TEMP", "/tmp"),
        ("$PWD", cwd),
    ];
    places.iter().fold(text.to_owned(), |text, (name, place)| {
        if text.contains(['$', '%']) { text.replace(name, place) } else { text }
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
    statements(source).into_iter().filter(|statement| !is_said(statement)).collect::<Vec<_>>().join("\n")
}

pub(super) fn statements(source: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    for c in source.chars() {
        match quote {
            Some(open) => {
                if c == open {
                    quote = None;
                }
            }
            None => match c {
                '"' | '\'' => quote = Some(c),
                ';' | '|' | '\n' | '{' | '}' => {
                    out.push(String::new());
                    continue;
                }
                _ => {}
            },
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
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
        if let Some(at) = text.find('$') {
            made.push_str(&text[..at]);
            made.push(Piece::Hole(Origin::Variable));
            let rest: String = text[at + 1..]
                .chars()
                .skip_while(|c| c.is_alphanumeric() || "_:.(){}".contains(*c))
                .collect();
            made.push_str(&rest);
        } else if bare {
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
