//! Simplifies PowerShell code: joins paths, and fills in splatted arguments and the values of variables.

use super::read::{with_places, words};
use crate::effects::shell::Shell;

/// How many variables are remembered.
const MAX_VALUES: usize = 16;
/// Longer statements are left as they are.
const MAX_STATEMENT: usize = 16 * 1024;
/// Longer values are not remembered: each statement may use them many times.
const MAX_VALUE: usize = 4 * 1024;

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

/// The argument that an entry of a table or list becomes.
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

/// Calls that return a path: `JOINING` joins it from parts, `RETURNING` returns the path that it is given.
const JOINING: &[&str] = &["(join-path ", "[io.path]::combine(", "[system.io.path]::combine("];
const RETURNING: &[&str] = &["(resolve-path ", "(rvpa ", "(convert-path ", "(cvpa ", "(get-item ", "(gi "];

/// Writes out `(Join-Path a b)` and `[IO.Path]::Combine(a, b)`. The last call comes first, because it may be inside
/// another.
fn joined(statement: &str, shell: &Shell<'_>) -> String {
    let mut text = statement.to_owned();
    let mut until = text.len();
    for _ in 0..MAX_VALUES {
        let before = text[..until].to_ascii_lowercase();
        let calls = JOINING.iter().chain(RETURNING);
        let Some((at, call)) =
            calls.filter_map(|call| Some((before.rfind(call)?, *call))).max_by_key(|(at, _)| *at)
        else {
            break;
        };
        until = at;
        let inner = &text[at + call.len()..];
        let Some(end) = inner.find(')') else { continue };
        // A method call on the returned object is left as it is.
        if RETURNING.contains(&call) && inner[end + 1..].starts_with('.') {
            continue;
        }
        let parts: Vec<String> = words(&inner[..end], shell)
            .iter()
            .map(ToString::to_string)
            .filter(|part| !part.starts_with('-'))
            .collect();
        let (mut from, mut to) = (at, at + call.len() + end + 1);
        // The parentheses of a method's call stay.
        let named = |before: &str| {
            before.trim_end_matches(char::is_alphanumeric).ends_with(['.', ':'])
                && before.ends_with(char::is_alphanumeric)
        };
        if let Some(before) = text[..from].strip_suffix('(')
            && text[to..].starts_with(')')
            && !named(before)
        {
            (from, to) = (from - 1, to + 1);
        }
        if text[..from].ends_with('$') {
            from -= 1;
        }
        until = from;
        text.replace_range(from..to, &format!("\"{}\"", parts.join("/")));
    }
    text
}

/// Fills in variables that were set to plain text, and remembers those that the statement sets. Returns what the statement runs.
pub(super) fn with_values(statement: &str, values: &mut Vec<(String, String)>, shell: &Shell<'_>) -> String {
    let own = assignment(statement);
    forget_set(values, statement, own.map_or(statement, |(_, _, value)| value));
    // Outside quotes a value with spaces is one word.
    let is_bare = !statement.contains(['"', '\'']);
    let filled = values.iter().fold(statement.trim().to_owned(), |text, (name, value)| {
        if text.len() >= MAX_STATEMENT {
            text
        } else if is_bare && value.contains(' ') && !value.contains('\'') {
            replaced_name(&text, name, &format!("'{value}'"))
        } else {
            replaced_name(&text, name, value)
        }
    });
    let Some((target, operator, value)) = own else { return joined(&filled, shell) };
    let value = values.iter().fold(value.to_owned(), |text, (name, value)| replaced_name(&text, name, value));
    let value =
        if value.to_ascii_lowercase().starts_with("join-path ") { format!("({value})") } else { value };
    let value = with_places(&joined(&value, shell), shell);
    let name = format!("${}", target.to_ascii_lowercase());
    let before = values.iter().find(|(known, _)| *known == name).map(|(_, before)| before.clone());
    // Whatever is assigned, the old value is gone.
    values.retain(|(known, _)| replaced_name(&name, known, "") == name);
    let plain = plain_text(&value).filter(|_| is_name(target));
    let whole = plain.and_then(|plain| match operator {
        "" => Some(plain),
        "+" if before.as_ref()?.starts_with('\'') => Some(format!("{}, '{plain}'", before?)),
        "+" => Some(before? + &plain),
        _ => None,
    });
    if let Some(whole) = whole.filter(|whole| whole.len() <= MAX_VALUE) {
        values.extend(Some((name, whole)).filter(|_| values.len() < MAX_VALUES));
        return statement.to_owned();
    }
    // The command on the right has its effects, whatever happens to its result.
    let is_command = value.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_command { value } else { format!("${target} = {value}") }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// What a statement assigns to, without the `$`, the type and the scope before it, the operator, and the value.
fn assignment(statement: &str) -> Option<(&str, &str, &str)> {
    let statement = statement.trim();
    let typed = statement.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let target = typed.map_or(statement, |(_, rest)| rest.trim_start());
    let (left, value) = target.strip_prefix('$')?.split_once('=')?;
    let target = left.trim_end_matches(|c: char| "+-*/%? ".contains(c));
    let operator = left[target.len()..].trim();
    // A comparison with a string.
    if target.contains(['"', '\'', '(']) || target.contains(" -") {
        return None;
    }
    let scoped = target.split_once(':').filter(|(scope, _)| !scope.eq_ignore_ascii_case("env"));
    Some((scoped.map_or(target, |(_, name)| name), operator, value.trim()))
}

/// Commands that set a variable whose bare name they are given.
const SETTERS: &[&str] =
    &["clear-variable", "clv", "new-variable", "nv", "remove-variable", "rv", "set-variable", "sv"];

/// What stands before the bare name of a variable that is set: options, and the drive of variables.
const BEFORE_NAME: &[&str] = &[
    "-errorvariable",
    "-ev",
    "-informationvariable",
    "-iv",
    "-outvariable",
    "-ov",
    "-pipelinevariable",
    "-pv",
    "-variable",
    "-warningvariable",
    "-wv",
    "variable",
];

/// Forgets the variables that a statement sets in other ways than by an assignment at its beginning. `part` is the
/// statement without that one.
fn forget_set(values: &mut Vec<(String, String)>, statement: &str, part: &str) {
    if values.is_empty() {
        return;
    }
    let lower = statement.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || ",;:+'\"(){}/\\".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let mut set = assigned(part);
    if words.iter().any(|word| SETTERS.contains(word)) {
        set.extend(words.iter().map(|word| format!("${word}")));
    }
    // Options may be shortened.
    let names_next = |word: &str| {
        word.len() > 2 && word.contains('v') && BEFORE_NAME.iter().any(|known| known.starts_with(word))
    };
    set.extend(words.windows(2).filter(|pair| names_next(pair[0])).map(|pair| format!("${}", pair[1])));
    values.retain(|(known, _)| !set.contains(known));
}

/// The variables that are assigned to in code, and those of loops over a list: `($a = 1)`, `foreach ($b in $c)`.
fn assigned(code: &str) -> Vec<String> {
    let is_loop = code.to_ascii_lowercase().contains("foreach");
    // Text in quotes assigns nothing, apart from code in it.
    let (mut quote, mut has_code) = (None, false);
    let mut out = Vec::new();
    let mut chars = code.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &code[at + c.len_utf8()..];
        match c {
            '`' if quote != Some('\'') => drop(chars.next()),
            '"' | '\'' if quote.is_none() => (quote, has_code) = (Some(c), false),
            _ if quote == Some(c) => quote = None,
            '$' if quote == Some('"') && rest.starts_with('(') => has_code = true,
            '$' if quote.is_none() || has_code => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c));
                let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
                let rest = rest.trim_start_matches([' ', '\t', ')']);
                let is_set = rest.trim_start_matches(['+', '-', '*', '/', '%', '?']).starts_with('=');
                if is_set || is_loop && rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("in ")) {
                    let name = name.rsplit(':').next().unwrap_or(name);
                    out.push(format!("${}", name.to_ascii_lowercase()));
                }
            }
            _ => {}
        }
    }
    out
}

/// The text that a value is known to be: a string, several that are added, or a path. A list stays in quotes.
fn plain_text(value: &str) -> Option<String> {
    let mut items = vec![String::new()];
    let mut rest = value.strip_prefix("@(").and_then(|list| list.strip_suffix(')')).unwrap_or(value).trim();
    loop {
        let quote = rest.chars().next()?;
        let (text, after) = match quote {
            '\'' | '"' => rest[1..].split_once(quote)?,
            '/' | '~' => rest.split_at(rest.find([' ', '\t', ',', '(', ')']).unwrap_or(rest.len())),
            _ => return None,
        };
        items.last_mut()?.push_str(text);
        rest = after.trim_start();
        match rest.chars().next() {
            None => break,
            Some('+') if items.len() == 1 => {}
            Some(',') => items.push(String::new()),
            Some(_) => return None,
        }
        rest = rest[1..].trim_start();
    }
    let whole = match items.as_slice() {
        [only] => only.clone(),
        _ => items.iter().map(|item| format!("'{item}'")).collect::<Vec<_>>().join(", "),
    };
    (!whole.is_empty() && !whole.contains('$')).then_some(whole)
}

/// The text with a variable's value wherever its whole name occurs. `name` must be in lower case. Text that grows too
/// long keeps the rest of the names.
pub(super) fn replaced_name(text: &str, name: &str, value: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.to_ascii_lowercase().match_indices(name) {
        let end = at + name.len();
        let is_longer =
            !name.ends_with(['}', '%']) && text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        if out.len() > done + MAX_STATEMENT {
            break;
        }
        if !is_longer {
            out.push_str(&text[done..at]);
            out.push_str(value);
            done = end;
        }
    }
    out + &text[done..]
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
