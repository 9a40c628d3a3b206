//! Splits code as far as needed: statements, string literals, and variables set to them.

use crate::effects::agent_settings;

/// How many variables are remembered.
const MAX_BINDINGS: usize = 128;

/// The code in lower case, without the content of its strings.
pub(super) fn outside_strings(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut quote = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                out.push(c);
            }
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some(_) => {}
            None => {
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
                out.push(c.to_ascii_lowercase());
            }
        }
    }
    out
}

/// Splits code at line ends and `;`, outside strings.
pub(super) fn statements(code: &str) -> Vec<&str> {
    let bytes = code.as_bytes();
    let mut out = Vec::new();
    let mut start = 0;
    let mut quote = 0u8;
    let mut depth = 0i32;
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        if quote != 0 {
            if c == b'\\' {
                at += 1;
            } else if c == quote {
                quote = 0;
            }
        } else {
            match c {
                b'"' | b'\'' | b'`' => quote = c,
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'\n' | b';' if depth <= 0 || c == b';' => {
                    out.push(code.get(start..at).unwrap_or(""));
                    start = at + 1;
                }
                _ => {}
            }
        }
        at += 1;
    }
    out.push(code.get(start..).unwrap_or(""));
    out.retain(|statement| !statement.trim().is_empty());
    out
}

/// String literals in order, unescaped. Literals joined by `+` are one.
pub(crate) fn string_literals(code: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = code.char_indices().peekable();
    let mut last_end = 0;
    let mut last_runs = false;
    while let Some((at, quote)) = chars.next() {
        if !matches!(quote, '\'' | '"' | '`') {
            continue;
        }
        let mut text = String::new();
        let mut end = code.len();
        while let Some((here, c)) = chars.next() {
            if c == quote {
                end = here + 1;
                break;
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 'x')) => {
                    let mut digits = String::new();
                    while digits.len() < 2 && chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) {
                        digits.extend(chars.next().map(|(_, c)| c));
                    }
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some((_, 'u')) => {
                    let mut digits = String::new();
                    while digits.len() < 4 && chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) {
                        digits.extend(chars.next().map(|(_, c)| c));
                    }
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some((_, other)) => text.push(other),
                None => {}
            }
        }
        let between = code.get(last_end..at).unwrap_or("").trim();
        match out.last_mut() {
            // Text in backquotes may be a command.
            Some(last)
                if last_end > 0
                    && !last_runs
                    && quote != '`'
                    && (between == "+" || between == "." || between == "/" || between.is_empty()) =>
            {
                if between == "/" {
                    last.push('/');
                }
                last.push_str(&text);
            }
            _ => out.push(text),
        }
        last_end = end;
        last_runs = quote == '`';
    }
    // Triple quotes leave empty strings beside them.
    out.retain(|text| !text.is_empty());
    out
}

/// All `name = "literal"` in the code.
pub(super) fn bindings(code: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for statement in statements(code) {
        if out.len() > MAX_BINDINGS {
            break;
        }
        // A loop over a list gives its variable each of the values.
        let looped = statement.trim_start().strip_prefix("for ").and_then(|rest| rest.split_once(" in "));
        let Some((left, right)) = looped.or_else(|| statement.split_once('=')) else { continue };
        if right.starts_with('=') || left.ends_with(['!', '<', '>']) {
            continue;
        }
        let name = left.trim().rsplit([' ', '\t', '$']).next().unwrap_or("");
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            continue;
        }
        let literals = string_literals(right);
        // `Path('.').rglob('*.pyc')`: the folder is the start, not a result.
        let picks = right.contains("glob(") && literals.iter().any(|text| text.starts_with("*."));
        let literals = literals.into_iter().filter(|text| !(picks && matches!(text.as_str(), "." | "./")));
        for literal in joined_paths(right).into_iter().chain(literals).take(4) {
            out.push((name.to_owned(), super::places::home_of_code(&literal, right)));
        }
    }
    out
}

/// Paths that code joins from several strings: `path.join(home, ".config", "x")`.
pub(super) fn joined_paths(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    // `Path('.claude') / 'settings.json'`
    let tight = code.replace(" / ", "/");
    if code.contains("Path(") && [")/'", ")/\"", "'/'", "\"/\""].iter().any(|joint| tight.contains(joint)) {
        let parts = string_literals(&tight);
        out.extend((2..=parts.len().min(4)).map(|count| parts[..count].join("/")));
    }
    // `Path('.claude', 'settings.json')`, under any imported name.
    if agent_settings::is_near(code) {
        let parts = string_literals(code);
        out.extend(
            parts
                .windows(2)
                .filter(|pair| agent_settings::is_folder(&pair[0]) || pair[0].ends_with("context-graph"))
                .map(|pair| pair.join("/")),
        );
    }
    out.extend(joined_parts(code).into_iter().map(|parts| parts.join("/")));
    out
}

/// The parts of each path that a call joins.
pub(super) fn joined_parts(code: &str) -> Vec<Vec<String>> {
    const CALLS: &[&str] = &["path.join(", "path').join(", "path\").join(", "File.join(", ".joinpath("];
    let mut out = Vec::new();
    for call in CALLS {
        for (at, _) in code.match_indices(call).take(8) {
            let rest = &code[at + call.len()..];
            let mut depth = 1;
            let end = rest.find(|c| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0
            });
            // `require('os')` in the arguments is not part of the path.
            let arguments = rest[..end.unwrap_or(rest.len())].replace("require('os')", "");
            let parts = string_literals(&arguments.replace("require(\"os\")", ""));
            if parts.len() > 1 {
                out.push(parts);
            }
        }
    }
    out
}

/// Whether a statement contains a name as a whole word.
pub(super) fn mentions(statement: &str, name: &str) -> bool {
    statement.match_indices(name).any(|(at, _)| {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !word(statement[..at].chars().next_back()) && !word(statement[at + name.len()..].chars().next())
    })
}
