//! Applies the operators of `${x…}` to a value.

use crate::effects::{Origin, Text};
use crate::wildcard;

/// `${@: -1}`: some of the words. All of them if the numbers are not known.
pub(super) fn sliced(values: Vec<Text>, arg: &str, first: i64) -> Vec<Text> {
    let (offset, length) = arg.split_once(':').unwrap_or((arg, ""));
    let Ok(offset) = offset.trim().parse::<i64>() else { return values };
    let count = i64::try_from(values.len()).unwrap_or(0);
    let start =
        usize::try_from(if offset < 0 { count + offset } else { (offset - first).max(0) }).unwrap_or(0);
    let length = length.trim().parse().unwrap_or(usize::MAX);
    values.into_iter().skip(start).take(length).collect()
}

pub(super) fn transformed(name: &str, value: &Text, op: &str, arg: &Text) -> Text {
    let Some(text) = value.literal() else {
        // The first character of these is known, even if the rest is not.
        if op == ":" && matches!(name, "PATH" | "OLDPWD") && arg.known().trim() == "0:1" {
            return Text::lit("/");
        }
        return value.clone();
    };
    let Some(arg) = arg.literal() else { return Text::hole(Origin::Computed) };
    match op {
        ":" => substring(text, arg).map_or_else(|| Text::hole(Origin::Computed), Text::lit),
        "#" | "##" | "%" | "%%" => Text::lit(trimmed(text, op, arg)),
        "/" | "//" => {
            let (from, to) = arg.split_once('/').unwrap_or((arg, ""));
            if from.is_empty() || from.contains(['*', '?', '[']) {
                return Text::hole(Origin::Computed);
            }
            Text::lit(if op == "/" { text.replacen(from, to, 1) } else { text.replace(from, to) })
        }
        "^" | "^^" => Text::lit(text.to_uppercase()),
        "," | ",," => Text::lit(text.to_lowercase()),
        _ => Text::hole(Origin::Computed),
    }
}

fn substring(text: &str, arg: &str) -> Option<String> {
    let (offset, length) = arg.split_once(':').unwrap_or((arg, ""));
    let total = i64::try_from(text.chars().count()).ok()?;
    let at = |n: i64| usize::try_from(if n < 0 { total + n } else { n.min(total) }).ok();
    let start = at(offset.trim().parse().ok()?)?;
    let end = if length.trim().is_empty() {
        usize::try_from(total).ok()?
    } else {
        let length: i64 = length.trim().parse().ok()?;
        if length < 0 { at(length)? } else { start + usize::try_from(length).ok()? }
    };
    Some(text.chars().take(end).skip(start).collect())
}

fn trimmed(text: &str, op: &str, pattern: &str) -> String {
    let cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let mut found = cuts.filter(|at| {
        let piece = if op.starts_with('#') { &text[..*at] } else { &text[*at..] };
        wildcard::fits(pattern, piece, false)
    });
    let cut = match op {
        "#" | "%%" => found.next(),
        _ => found.next_back(),
    };
    match cut {
        Some(at) if op.starts_with('#') => text[at..].to_owned(),
        Some(at) => text[..at].to_owned(),
        None => text.to_owned(),
    }
}
