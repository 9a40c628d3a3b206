//! Parses TOML written by people, and says where it is wrong.

use super::Step;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_errors;

/// Parses TOML; the error says where it is wrong.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = line_and_column(text, at);
        let name = name_at(text, at).map(|name| format!("`{name}`: ")).unwrap_or_default();
        format!("line {line}, column {column}: {name}{}", toml_errors::in_words(error.message()))
    })
}

/// Line and column of a place in valid TOML: for a table its name, for anything else its value.
pub fn place_in_toml(text: &str, way: &[Step]) -> Option<(usize, usize)> {
    let top = DeTable::parse(text).ok()?;
    let (first, rest) = way.split_first()?;
    let Step::Key(key) = first else { return None };
    let (mut name, mut here) = top.get_ref().iter().find(|(name, _)| name.get_ref() == key)?;
    let mut start = name.span().start;
    for step in rest {
        match (step, here.get_ref()) {
            (Step::Key(key), DeValue::Table(table)) => {
                (name, here) = table.iter().find(|(name, _)| name.get_ref() == key)?;
                start = name.span().start;
            }
            (Step::Nth(nth), DeValue::Array(items)) => {
                here = items.get(*nth)?;
                start = here.span().start;
            }
            _ => return None,
        }
    }
    let at = if here.get_ref().is_table() { start } else { here.span().start };
    Some(line_and_column(text, at))
}

fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

/// The name of the setting at a position: `inject.enabled`, or `exceptions[1].reason`. `None` if no setting
/// starts there or the text is not TOML.
fn name_at(text: &str, at: usize) -> Option<String> {
    let top = DeTable::parse(text).ok()?;
    in_table(top.get_ref(), "", at)
}

fn in_table(table: &DeTable<'_>, before: &str, at: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let dot = if before.is_empty() { "" } else { "." };
        let name = format!("{before}{dot}{}", key.get_ref());
        let begins = key.span().start == at;
        if begins && !value.get_ref().is_table() { Some(name) } else { in_value(value, name, at) }
    })
}

fn in_value(value: &Spanned<DeValue<'_>>, name: String, at: usize) -> Option<String> {
    let inside = match value.get_ref() {
        DeValue::Table(table) => in_table(table, &name, at),
        DeValue::Array(items) => {
            items.iter().enumerate().find_map(|(nth, item)| in_value(item, format!("{name}[{nth}]"), at))
        }
        _ => None,
    };
    inside.or_else(|| (value.span().start == at).then_some(name))
}
