//! Secrets in JSON: each string is scanned as text, and its key may name it.

use serde_json::{Map, Value};

use super::headers::credential_after;
use super::names::{Meaning, Named, meaning};
use super::scan::Hit;
use super::values::{How, secret_kind};
use super::{Memory, Redactor};

/// What the position of a value says about it.
#[derive(Clone, Copy)]
struct Place {
    named: Option<Named>,
}

/// Redacts every string in the object, keys included, and returns the number of secrets.
pub(super) fn redact_object(
    redactor: &Redactor,
    object: &mut Map<String, Value>,
    memory: &mut Memory,
) -> usize {
    let mut count = redact_keys(redactor, object, memory);
    let item = named_by_sibling(object);
    for (key, value) in object.iter_mut() {
        let named = meaning(key.as_bytes()).or(item.filter(|_| key.eq_ignore_ascii_case("value")));
        count += redact_value(redactor, value, Place { named }, memory);
    }
    count
}

fn redact_value(redactor: &Redactor, value: &mut Value, place: Place, memory: &mut Memory) -> usize {
    match value {
        Value::String(text) => redact_string(redactor, text, place, memory),
        Value::Array(items) => redact_items(redactor, items, place, memory),
        Value::Object(object) => redact_object(redactor, object, memory),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Redacts the items of a list; the item after a flag is its argument.
fn redact_items(redactor: &Redactor, items: &mut [Value], place: Place, memory: &mut Memory) -> usize {
    let mut flag = None;
    let mut count = 0;
    for item in items {
        let named = flag.take().or(place.named);
        if let Value::String(text) = &*item {
            flag = text.strip_prefix('-').and_then(|name| meaning(name.trim_start_matches('-').as_bytes()));
        }
        count += redact_value(redactor, item, Place { named }, memory);
    }
    count
}

fn redact_string(redactor: &Redactor, text: &mut String, place: Place, memory: &mut Memory) -> usize {
    let mut count = 0;
    let by_name = place.named.and_then(|named| secret_of(named, text));
    if let Some((redacted, found)) = by_name
        .and_then(|hit| redactor.replace(text, std::iter::once((hit, text.get(hit.start..hit.end))), memory))
    {
        *text = redacted;
        count += found;
    }
    let in_cookies = place.named.is_some_and(|named| named.meaning == Meaning::Cookie);
    if let Some((redacted, found)) = redactor.redact_counted(text, in_cookies, memory) {
        *text = redacted;
        count += found;
    }
    count
}

/// The secret in a string whose key names a secret.
fn secret_of(named: Named, text: &str) -> Option<Hit> {
    let bytes = text.as_bytes();
    match named.meaning {
        Meaning::Authorization => credential_after(bytes, 0),
        Meaning::Cookie => None,
        _ => {
            let kind = secret_kind(named, bytes, How::Quoted { assigned: false })?;
            Some(Hit { start: 0, end: bytes.len(), kind })
        }
    }
}

/// What `"name": "DB_PASSWORD"` says about the `"value"` next to it.
fn named_by_sibling(object: &Map<String, Value>) -> Option<Named> {
    object.get("value").or_else(|| object.get("Value"))?;
    ["name", "key", "Name", "Key"].iter().find_map(|name| meaning(object.get(*name)?.as_str()?.as_bytes()))
}

/// Redacts the keys themselves.
fn redact_keys(redactor: &Redactor, object: &mut Map<String, Value>, memory: &mut Memory) -> usize {
    let found: Vec<_> = object
        .keys()
        .filter_map(|key| redactor.redact_counted(key, false, memory).map(|redacted| (key.clone(), redacted)))
        .collect();
    let mut count = 0;
    for (key, (redacted, secrets)) in found {
        if let Some(value) = object.remove(&key) {
            object.insert(redacted, value);
            count += secrets;
        }
    }
    count
}
