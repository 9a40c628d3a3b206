//! Brace expressions: `{a,b}` and `{1..3}`.

use super::ast::{Part, Word};

/// How many words one brace expression may expand to.
const MAX_BRACES: usize = 256;
/// Longer words are not expanded.
const MAX_ITEMS: usize = 4096;
/// How many groups one word may have, side by side and nested.
const MAX_GROUPS: u32 = 12;

enum Item {
    Char(char),
    Part(Part),
}

/// The words that a word with braces expands to; `None` if there are too many.
pub(super) fn expand_braces(word: Word) -> Option<Vec<Word>> {
    let mut out = Vec::new();
    let mut complete = true;
    let mut items = Vec::new();
    for part in word {
        match part {
            Part::Bare(text) => items.extend(text.chars().map(Item::Char)),
            other => items.push(Item::Part(other)),
        }
    }
    if items.len() > MAX_ITEMS {
        return None;
    }
    for items in alternatives(&items.iter().collect::<Vec<_>>(), 0, &mut complete) {
        let mut word = Word::new();
        for item in items {
            match item {
                Made::Item(Item::Char(c)) => push_char(&mut word, *c),
                Made::Item(Item::Part(part)) => word.push(part.clone()),
                Made::Text(text) => text.chars().for_each(|c| push_char(&mut word, c)),
            }
        }
        out.push(word);
    }
    complete.then_some(out)
}

fn push_char(word: &mut Word, c: char) {
    // Braces are expanded before parameters: `$x{a,b}` is `$xa $xb`.
    if let Some(Part::Param { param, .. }) = word.last_mut() {
        let named = param.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if !param.braced && named && (c.is_ascii_alphanumeric() || c == '_') {
            param.name.push(c);
            return;
        }
    }
    if let Some(Part::Bare(text)) = word.last_mut() {
        text.push(c);
    } else {
        word.push(Part::Bare(c.to_string()));
    }
}

#[derive(Clone)]
enum Made<'i> {
    Item(&'i Item),
    Text(String),
}

fn alternatives<'i>(items: &[&'i Item], depth: u32, complete: &mut bool) -> Vec<Vec<Made<'i>>> {
    let is = |item: &Item, wanted: char| matches!(item, Item::Char(c) if *c == wanted);
    for (start, item) in items.iter().enumerate() {
        if !is(item, '{') {
            continue;
        }
        if depth > MAX_GROUPS {
            *complete = false;
            break;
        }
        let mut level = 0;
        let mut commas = Vec::new();
        let mut end = None;
        for (at, item) in items.iter().enumerate().skip(start) {
            match item {
                Item::Char('{') => level += 1,
                Item::Char('}') => {
                    level -= 1;
                    if level == 0 {
                        end = Some(at);
                        break;
                    }
                }
                Item::Char(',') if level == 1 => commas.push(at),
                _ => {}
            }
        }
        let Some(end) = end else { continue };
        let inside: Option<String> = items[start + 1..end]
            .iter()
            .map(|item| if let Item::Char(c) = item { Some(*c) } else { None })
            .collect();
        let choices: Vec<Vec<Made<'i>>> = if !commas.is_empty() {
            let mut from = start + 1;
            let mut choices = Vec::new();
            for to in commas.into_iter().chain([end]) {
                choices.extend(alternatives(&items[from..to], depth + 1, complete));
                from = to + 1;
            }
            choices
        } else if let Some(range) = inside.as_deref().and_then(sequence) {
            range.into_iter().map(|text| vec![Made::Text(text)]).collect()
        } else {
            continue;
        };
        let tails = alternatives(&items[end + 1..], depth + 1, complete);
        let head: Vec<Made<'i>> = items[..start].iter().map(|item| Made::Item(item)).collect();
        let mut out = Vec::new();
        if choices.len() * tails.len() > MAX_BRACES {
            *complete = false;
        }
        for choice in choices {
            for tail in &tails {
                if out.len() >= MAX_BRACES {
                    return out;
                }
                out.push([head.clone(), choice.clone(), tail.clone()].concat());
            }
        }
        return out;
    }
    vec![items.iter().map(|item| Made::Item(item)).collect()]
}

fn sequence(inside: &str) -> Option<Vec<String>> {
    let (from, to) = inside.split_once("..")?;
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        // All numbers behave alike, so a few of them are enough.
        return Some((from.min(to)..=from.max(to)).take(8).map(|n| n.to_string()).collect());
    }
    let (from, to) = (from.chars().next()?, to.chars().next()?);
    Some((from.min(to)..=from.max(to)).take(MAX_BRACES).map(String::from).collect())
}
