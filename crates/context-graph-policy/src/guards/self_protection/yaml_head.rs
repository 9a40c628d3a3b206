//! Whether the YAML at the head of an agent's or skill's file has the key `hooks`, however it is written.

/// Whether a head has hooks.
pub(super) fn names_hooks(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim_start);
    // In a map in braces the key can be anywhere.
    let in_braces = |line: &str| bare(line).starts_with('{') && head.contains("hooks");
    lines.any(|line| is_hooks(line) || is_key_alone(line) || merges(line) || in_braces(line))
}

/// Whether a line begins the map `hooks`.
pub(super) fn is_hooks(line: &str) -> bool {
    let Some((key, value)) = bare(line).split_once(':') else { return false };
    let value = value.trim_start();
    means_hooks(key) && (value.is_empty() || value.starts_with(['{', '#', '&', '!', '*']))
}

/// `? hooks`, with the value on the next line.
fn is_key_alone(line: &str) -> bool {
    let key = line.strip_prefix('?').filter(|rest| rest.starts_with([' ', '\t']));
    key.is_some_and(|key| means_hooks(bare(key.trim_start()).split(" #").next().unwrap_or(key)))
}

/// `<<: *name` brings the keys of another map, and `*name: …` is a key that stands elsewhere.
fn merges(line: &str) -> bool {
    let Some((key, _)) = bare(line).split_once(':') else { return false };
    let key = key.trim_end();
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    key == "<<" || key.strip_prefix('*').is_some_and(is_name)
}

/// Whether a key is `hooks`. In double quotes a letter can be escaped.
fn means_hooks(key: &str) -> bool {
    let key = key.trim_end();
    key.trim_matches(['"', '\'']) == "hooks" || key.starts_with('"') && key.contains('\\')
}

/// What follows the tag and the anchor of a key: `!!str &a hooks`.
fn bare(mut line: &str) -> &str {
    while let Some((_, rest)) =
        line.split_once(char::is_whitespace).filter(|(word, _)| word.starts_with(['!', '&']))
    {
        line = rest.trim_start();
    }
    line
}
