//! Writes PowerShell out in plainer words: joined paths, splatted arguments, and the values of variables.

use super::read::{with_places, words};
use crate::effects::shell::Shell;

/// How many variables are remembered.
const MAX_VALUES: usize = 16;
/// Longer statements are left as they are.
const MAX_STATEMENT: usize = 16 * 1024;

/// Replaces `@name` by what the table or list `$name = @{…}`, `@(…)` passes to a command.
pub(super) fn without_splats(source: &str) -> String {
    let mut out = source.to_owned();
    for (open, close) in [("@{", '}'), ("@(", ')')] {
        for (at, _) in source.match_indices(open).take(MAX_VALUES) {
            let left = source[..at].trim_end();
            let Some(left) = left.strip_suffix('=') else { continue };
            let name = left.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
            let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
            let rest = &source[at + open.len()..];
            let body = &rest[..rest.find(close).unwrap_or(rest.len())];
            let passed: Vec<String> = body.split([';', '\n', ',']).filter_map(passed).collect();
            if out.len() < MAX_STATEMENT {
                out = out.replace(&format!("@{name}"), &passed.join(" "));
            }
        }
    }
    out
}

/// The argument that an entry of a table or list stands for.
fn passed(entry: &str) -> Option<String> {
    let entry = entry.trim();
    let Some((name, value)) = entry.split_once('=').filter(|(name, _)| !name.contains(['"', '\''])) else {
        return (!entry.is_empty()).then(|| entry.to_owned());
    };
    let (name, value) = (name.trim(), value.trim());
    match value.to_ascii_lowercase().as_str() {
        "$true" => Some(format!("-{name}")),
        "$false" => None,
        _ => Some(format!("-{name} {value}")),
    }
}

/// Writes out `(Join-Path a b)` and `[IO.Path]::Combine(a, b)`.
fn joined(statement: &str, shell: &Shell<'_>) -> String {
    let mut text = statement.to_owned();
    let calls = ["(join-path ", "[io.path]::combine(", "[system.io.path]::combine("];
    let same = ["(resolve-path ", "(rvpa ", "(convert-path ", "(cvpa ", "(get-item ", "(gi "];
    for call in calls.iter().chain(&same) {
        for _ in 0..MAX_VALUES {
            let Some(at) = text.to_ascii_lowercase().find(call) else { break };
            let inner = &text[at + call.len()..];
            let Some(end) = inner.find(')') else { break };
            // A method call on the object is examined as it stands.
            if same.contains(call) && inner[end + 1..].starts_with('.') {
                break;
            }
            let parts: Vec<String> = words(&inner[..end], shell)
                .iter()
                .map(ToString::to_string)
                .filter(|part| !part.starts_with('-'))
                .collect();
            let (mut from, mut to) = (at, at + call.len() + end + 1);
            if text[..from].ends_with('(') && text[to..].starts_with(')') {
                (from, to) = (from - 1, to + 1);
            }
            text.replace_range(from..to, &format!("\"{}\"", parts.join("/")));
        }
    }
    text
}

/// Fills in variables that were set to plain text, and remembers those that the statement sets. Returns what the statement runs.
pub(super) fn with_values(statement: &str, values: &mut Vec<(String, String)>, shell: &Shell<'_>) -> String {
    let filled = values.iter().fold(statement.trim().to_owned(), |text, (name, value)| {
        if text.len() < MAX_STATEMENT { replaced_name(&text, name, value) } else { text }
    });
    let assigned = statement.trim().strip_prefix('$').and_then(|rest| rest.split_once('='));
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let Some((name, value)) = assigned.map(|(name, value)| (name.trim(), value.trim())) else {
        return joined(&filled, shell);
    };
    if !is_name(name) {
        return joined(&filled, shell);
    }
    let value = values.iter().fold(value.to_owned(), |text, (name, value)| replaced_name(&text, name, value));
    let value =
        if value.to_ascii_lowercase().starts_with("join-path ") { format!("({value})") } else { value };
    let value = with_places(&joined(&value, shell), shell);
    let quoted = value.len() > 2 && value.starts_with(['\'', '"']) && value.ends_with(['\'', '"']);
    let is_place = value.starts_with(['/', '~']) && !value.contains(char::is_whitespace);
    if (quoted || is_place) && !value.contains('$') {
        if values.len() < MAX_VALUES {
            let plain = if quoted { &value[1..value.len() - 1] } else { value.as_str() };
            values.retain(|(known, _)| known[1..] != *name);
            values.push((format!("${name}"), plain.to_owned()));
        }
        return statement.to_owned();
    }
    // The command on the right has its effects, whatever happens to its result.
    if value.starts_with(|c: char| c.is_ascii_alphabetic()) { value } else { statement.to_owned() }
}

/// The text with a variable's value in place of its whole name.
fn replaced_name(text: &str, name: &str, value: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let after = &rest[at + name.len()..];
        out.push_str(&rest[..at]);
        let longer = after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push_str(if longer { name } else { value });
        rest = after;
    }
    out + rest
}

/// Calls of static methods: the class and the method in lower case, and the arguments without their quotes.
pub(super) fn static_calls(source: &str) -> Vec<(String, String, Vec<String>)> {
    let mut out = Vec::new();
    for (at, _) in source.match_indices("]::").take(64) {
        let class = source[..at].rsplit('[').next().unwrap_or("").to_ascii_lowercase();
        let Some((method, rest)) = source[at + 3..].split_once('(') else { continue };
        let method = method.trim().to_ascii_lowercase();
        if !method.chars().all(char::is_alphanumeric) {
            continue;
        }
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let args = rest[..end.unwrap_or(rest.len())].split(',');
        let bare = |arg: &str| arg.trim().trim_matches(['"', '\'']).replace('\\', "/");
        out.push((class, method, args.map(bare).collect()));
    }
    out
}
