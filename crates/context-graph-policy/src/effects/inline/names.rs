//! Values and functions under other names: variables, formats and imports.

use super::literals::statements;

/// A text with a placeholder, filled with the value: `rm -rf %s`, `rm -rf {d}`, or `rm -rf ` with the value
/// appended.
pub(super) fn filled_in(text: &str, value: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.contains("%s") {
        found.push(text.replace("%s", value));
    }
    if let (Some(open), Some(close)) = (text.find('{'), text.find('}'))
        && open < close
        && text.contains(' ')
    {
        let before = text[..open].trim_end_matches('$');
        found.push(format!("{before}{value}{}", &text[close + 1..]));
    }
    if text.ends_with(' ') {
        found.push(format!("{text}{value}"));
    }
    found
}

/// Variables that hold a function: `f = os.system`.
pub(super) fn other_names(code: &str) -> Vec<(String, String)> {
    statements(code)
        .into_iter()
        .filter_map(|statement| statement.split_once('='))
        .filter(|(left, right)| !right.contains(['(', '"', '\'']) && !left.contains(['(', '[']))
        .map(|(left, right)| {
            let name = left.trim().rsplit([' ', '$']).next().unwrap_or("").to_ascii_lowercase();
            (name, format!("{}(", right.trim().to_ascii_lowercase()))
        })
        .filter(|(name, _)| !name.is_empty())
        .take(32)
        .collect()
}

/// Variables that hold a temporary name.
pub(super) fn temporary_names(code: &str) -> Vec<String> {
    statements(code)
        .into_iter()
        .filter(|statement| {
            let low = statement.to_ascii_lowercase();
            ["mkdtemp", "temporarydirectory", "mktmpdir", "tempfile", "tmpdir()", "tempdir", "mkdirtemp"]
                .iter()
                .any(|word| low.contains(word))
        })
        .filter_map(|statement| {
            let left = match statement.split_once(" as ") {
                Some((_, name)) => name.trim_end_matches([':', ' ']),
                None => statement.split_once('=')?.0,
            };
            // `dir, err := …`: the name comes first.
            let left = left.trim_end_matches([':', ' ']).split(',').next().unwrap_or(left);
            left.trim().rsplit([' ', '$']).next().map(str::to_ascii_lowercase)
        })
        .take(32)
        .collect()
}
