//! Parses bytes into one JSON object, strictly.
//!
//! `serde_json` alone would take the last of two equal keys and would not limit the size. A hook's input
//! decides whether a tool call runs, so its meaning must not depend on which parser reads it.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use thiserror::Error;

use crate::fields::Fields;

/// The largest event that is read, in bytes. The client's largest seen payload was 6 MB.
pub const MAX_INPUT_BYTES: usize = 16 * 1024 * 1024;

/// The most values in an event. In memory, a small value takes a hundred times its size in bytes.
pub const MAX_VALUES: usize = 500_000;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Why the input could not be read. Every variant says what is wrong and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The input was empty or only white space.
    #[error("the input is empty; expected one JSON object")]
    Empty,
    /// More than [`MAX_INPUT_BYTES`].
    #[error("the input is larger than {limit} bytes")]
    TooLarge {
        /// The limit that was exceeded.
        limit: usize,
    },
    /// More than [`MAX_VALUES`].
    #[error("the input has more than {limit} values")]
    TooMany {
        /// The limit that was exceeded.
        limit: usize,
    },
    /// A byte sequence that is not UTF-8.
    #[error("the input is not UTF-8: first bad byte at offset {offset}")]
    NotUtf8 {
        /// Where the first bad byte is.
        offset: usize,
    },
    /// Not JSON, JSON with trailing text, or nested too deep.
    #[error("not valid JSON: {message}")]
    Syntax {
        /// The parser's message, with line and column.
        message: String,
    },
    /// An object has the same key twice, which two parsers may understand differently.
    #[error("ambiguous JSON: {message}; name each key once")]
    Ambiguous {
        /// The key, with line and column.
        message: String,
    },
    /// A JSON object that is not one event.
    #[error("not a hook event: the object has {found}")]
    NotAnEvent {
        /// Which of an event's fields it has.
        found: &'static str,
    },
    /// JSON, but not an object.
    #[error("expected a JSON object, found {actual}")]
    NotAnObject {
        /// What it was.
        actual: &'static str,
    },
    /// A required field is absent.
    #[error("missing required field `{path}`: expected {expected}")]
    Missing {
        /// The field, dotted from the root.
        path: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A field has the wrong type.
    #[error("field `{path}`: expected {expected}, found {actual}")]
    WrongType {
        /// The field, dotted from the root.
        path: String,
        /// What belongs there.
        expected: &'static str,
        /// What was found.
        actual: String,
    },
    /// A payload of one event was read as another.
    #[error("field `hook_event_name`: expected {expected}, found {actual}")]
    WrongEvent {
        /// The event asked for.
        expected: &'static str,
        /// The event found.
        actual: String,
    },
}

impl DecodeError {
    /// The same error, with the path extended by one outer level.
    #[must_use]
    pub fn inside(self, parent: &str) -> Self {
        let join = |path: String| match path.as_str() {
            "" => parent.to_owned(),
            p if p.starts_with('[') => format!("{parent}{p}"),
            p => format!("{parent}.{p}"),
        };
        match self {
            Self::Missing { path, expected } => Self::Missing { path: join(path), expected },
            Self::WrongType { path, expected, actual } => {
                Self::WrongType { path: join(path), expected, actual }
            }
            other => other,
        }
    }

    /// A value of the wrong type, at the current level.
    pub fn wrong_type(expected: &'static str, found: &Value) -> Self {
        Self::WrongType { path: String::new(), expected, actual: describe(found) }
    }
}

/// The JSON type of a value, in words.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Bool(b) => format!("the boolean {b}"),
        Value::Number(n) => format!("the number {n}"),
        other => type_name(other).to_owned(),
    }
}

/// Reads one JSON object and nothing else.
///
/// A byte-order mark is skipped, because some shells write one. Depth is limited by the parser (127 levels).
pub fn object(bytes: &[u8]) -> Result<Map<String, Value>, DecodeError> {
    match value(bytes)? {
        Value::Object(map) => Ok(map),
        other => Err(DecodeError::NotAnObject { actual: type_name(&other) }),
    }
}

/// The fields of one JSON object, as [`object`] reads it. Most objects are small, and no map is made of them.
pub(crate) fn fields(text: &str) -> Result<Fields<'_>, DecodeError> {
    if text.len() <= MAX_INPUT_BYTES {
        // The object itself is one of the values.
        let left = Cell::new(MAX_VALUES - 1);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(Few(&left));
        if let Ok(few) = read.and_then(|few| deserializer.end().map(|()| few)) {
            return Ok(Fields::of_few(few));
        }
    }
    object(text.as_bytes()).map(Fields::new)
}

fn value(bytes: &[u8]) -> Result<Value, DecodeError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(DecodeError::TooLarge { limit: MAX_INPUT_BYTES });
    }
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|e| DecodeError::NotUtf8 { offset: e.valid_up_to() })?;
    if text.trim_ascii().is_empty() {
        return Err(DecodeError::Empty);
    }
    let left = Cell::new(MAX_VALUES);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read =
        Strict(&left).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    read.map_err(|e| match e.to_string() {
        _ if left.get() == 0 => DecodeError::TooMany { limit: MAX_VALUES },
        // What the parser accepts and the visitor rejects is a duplicate key.
        message if e.is_data() => DecodeError::Ambiguous { message },
        message => DecodeError::Syntax { message },
    })
}

/// Reads a JSON value in which no object has a duplicate key, with a limit on the number of values.
#[derive(Clone, Copy)]
struct Strict<'c>(&'c Cell<usize>);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0.get().checked_sub(1) {
            Some(left) => self.0.set(left),
            None => return Err(D::Error::custom("too many values")),
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Number(n.into()))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(Value::Number(n.into()))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(Number::from_f64(n).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, s: &str) -> Result<Value, E> {
        Ok(Value::String(s.to_owned()))
    }

    fn visit_string<E>(self, s: String) -> Result<Value, E> {
        Ok(Value::String(s))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            match map.entry(key) {
                Entry::Vacant(place) => {
                    let item = access.next_value_seed(self)?;
                    place.insert(item);
                }
                Entry::Occupied(place) => {
                    let key = place.key().escape_debug();
                    return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// The most fields that are kept in a list, which is searched from its beginning.
const FEW: usize = 32;

/// Reads an object with few fields and no duplicate key, with a limit on the number of values.
struct Few<'c>(&'c Cell<usize>);

impl<'de> Visitor<'de> for Few<'_> {
    type Value = Vec<(Cow<'de, str>, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with few fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut few: Self::Value = Vec::with_capacity(FEW / 2);
        while let Some(Key(key)) = access.next_key()? {
            if few.len() == FEW || few.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom("too many fields, or the same twice"));
            }
            let item = access.next_value_seed(Strict(self.0))?;
            few.push((key, item));
        }
        Ok(few)
    }
}

/// A key, copied only if it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Self)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        object(bytes).unwrap_err().to_string()
    }

    #[test]
    fn a_plain_object_is_read() {
        let map = object(br#"{"a":1,"b":[true,null,-2,1.5,"x"]}"#).unwrap();
        assert_eq!(Value::Object(map), serde_json::json!({"a":1,"b":[true,null,-2,1.5,"x"]}));
    }

    #[test]
    fn many_small_values_are_refused_before_they_take_all_memory() {
        let list = |values: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(values - 1));
        assert!(object(list(MAX_VALUES - 3).as_bytes()).is_ok());
        assert!(message(list(MAX_VALUES).as_bytes()).contains("more than 500000 values"));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert!(object(b"\xEF\xBB\xBF{}").is_ok());
    }

    #[test]
    fn trouble_is_named() {
        assert!(message(b" \n\t ").contains("empty"));
        assert!(message(b"[1]").contains("found an array"));
        assert!(message(b"{\"a\":").contains("EOF"));
        assert!(message(b"{} x").contains("trailing characters"));
        assert!(message(b"{\"a\":1,\"b\":{\"c\":1,\"c\":2}}").contains("duplicate key `c`"));
        assert!(message(b"{\"a\":\"\xff\"}").contains("offset 6"));
        assert!(message(b"{\"a\":\"\0\"}").contains("control character"));
    }

    #[test]
    fn fields_are_those_of_the_object_and_fail_as_it_does() {
        let many = (0..100).map(|at| format!("\"k{at}\":{at},")).collect::<Vec<_>>().concat();
        for text in [
            r#"{"a":1,"b":[true,null,-2,1.5,"x"],"\u0063":{"d":"\n"}}"#,
            "{}",
            "\u{feff}{\"a\":1}",
            &format!("{{{many}\"z\":null}}"),
            &format!("{{{many}\"k7\":null}}"),
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":{"c":1,"c":2}}"#,
            &format!("{{\"a\":[{}0]}}", "0,".repeat(MAX_VALUES - 3)),
            &format!("{{\"a\":[{}0]}}", "0,".repeat(MAX_VALUES - 2)),
            "[1]",
            "7",
            " ",
            "{\"a\":",
            "{} x",
            &format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200)),
        ] {
            assert_eq!(fields(text).map(Fields::rest), object(text.as_bytes()), "{text:.60}");
        }
    }

    #[test]
    fn depth_and_size_are_limited() {
        let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
        assert!(message(deep.as_bytes()).contains("recursion limit"));
        let huge = vec![b' '; MAX_INPUT_BYTES + 1];
        assert!(message(&huge).contains("larger than"));
    }
}
