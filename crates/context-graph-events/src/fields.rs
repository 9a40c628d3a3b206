//! Takes typed fields out of a JSON object, and describes each type in JSON Schema.
//!
//! Payloads are read from a parsed object instead of with `serde`'s derive, for three things that the derive
//! does not offer together: errors that name the field, unknown fields kept next to the known ones, and a known
//! optional field that arrived as `null` written back as `null`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::decode::{DecodeError, type_name};

/// A type that a field can have.
pub trait FieldType: Sized + Serialize {
    /// What is expected, in words for an error message.
    const EXPECTED: &'static str;

    /// Reads the value, or returns why it does not fit.
    fn read(value: Value) -> Result<Self, DecodeError>;

    /// Converts back to JSON. Types that hold text override this to move the text instead of copying it.
    fn into_value(self) -> Value {
        // Serialization fails only for maps whose keys are not strings, and there are none.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The type in JSON Schema.
    fn schema() -> Value;
}

/// The fields of one JSON object, taken out one by one. The rest is unknown to us and is kept.
#[derive(Debug, Default)]
pub struct Fields<'a> {
    /// The fields of a small object, in no order. Most events are small, and searching a short list is faster
    /// than building a map.
    few: Vec<(Cow<'a, str>, Value)>,
    /// The fields of any other object.
    map: Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// Starts with an object.
    pub fn new(map: Map<String, Value>) -> Self {
        Self { few: Vec::new(), map }
    }

    /// Starts with the fields of a small object.
    pub(crate) fn of_few(few: Vec<(Cow<'a, str>, Value)>) -> Self {
        Self { few, map: Map::new() }
    }

    /// Starts with a value that must be an object.
    pub fn of(value: Value) -> Result<Self, DecodeError> {
        match value {
            Value::Object(map) => Ok(Self::new(map)),
            other => Err(DecodeError::wrong_type("an object", &other)),
        }
    }

    /// Looks at a field without taking it.
    pub fn peek(&self, key: &str) -> Option<&Value> {
        self.few.iter().find(|(name, _)| name == key).map(|(_, value)| value).or_else(|| self.map.get(key))
    }

    /// A field that must be there.
    pub fn required<T: FieldType>(&mut self, key: &str) -> Result<T, DecodeError> {
        let Some(value) = self.take(key) else {
            return Err(DecodeError::Missing { path: key.to_owned(), expected: T::EXPECTED });
        };
        T::read(value).map_err(|e| e.inside(key))
    }

    /// A field that may be absent. `null` counts as absent, but stays among the unknown fields so that it is
    /// written back.
    pub fn optional<T: FieldType>(&mut self, key: &str) -> Result<Option<T>, DecodeError> {
        if self.peek(key).is_none_or(Value::is_null) {
            return Ok(None);
        }
        self.required(key).map(Some)
    }

    /// A field that must be there but may be `null`.
    pub fn nullable<T: FieldType>(&mut self, key: &str) -> Result<Option<T>, DecodeError> {
        if self.peek(key) == Some(&Value::Null) {
            self.take(key);
            return Ok(None);
        }
        self.required(key).map(Some)
    }

    /// Takes a field without checking its type.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        match self.few.iter().position(|(name, _)| name == key) {
            Some(at) => Some(self.few.swap_remove(at).1),
            None => self.map.remove(key),
        }
    }

    /// The fields that were not taken.
    pub fn rest(mut self) -> Map<String, Value> {
        self.map.extend(self.few.into_iter().map(|(name, value)| (name.into_owned(), value)));
        self.map
    }
}

impl FieldType for String {
    const EXPECTED: &'static str = "a string";

    fn read(value: Value) -> Result<Self, DecodeError> {
        match value {
            Value::String(s) => Ok(s),
            other => Err(DecodeError::wrong_type(Self::EXPECTED, &other)),
        }
    }

    fn into_value(self) -> Value {
        Value::String(self)
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

impl FieldType for bool {
    const EXPECTED: &'static str = "a boolean";

    fn read(value: Value) -> Result<Self, DecodeError> {
        value.as_bool().ok_or_else(|| DecodeError::wrong_type(Self::EXPECTED, &value))
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}

impl FieldType for u64 {
    const EXPECTED: &'static str = "a whole number of 0 or more";

    fn read(value: Value) -> Result<Self, DecodeError> {
        value.as_u64().ok_or_else(|| DecodeError::wrong_type(Self::EXPECTED, &value))
    }

    fn schema() -> Value {
        json!({"type": "integer", "minimum": 0})
    }
}

impl FieldType for i64 {
    const EXPECTED: &'static str = "a whole number";

    fn read(value: Value) -> Result<Self, DecodeError> {
        value.as_i64().ok_or_else(|| DecodeError::wrong_type(Self::EXPECTED, &value))
    }

    fn schema() -> Value {
        json!({"type": "integer"})
    }
}

/// A duration, a count or a price as the client wrote it: `109` may one day arrive as `109.5`. It must not be
/// negative.
impl FieldType for serde_json::Number {
    const EXPECTED: &'static str = "a number of 0 or more";

    fn read(value: Value) -> Result<Self, DecodeError> {
        match value {
            Value::Number(n) if n.as_f64().is_some_and(|n| n >= 0.0) => Ok(n),
            other => Err(DecodeError::wrong_type(Self::EXPECTED, &other)),
        }
    }

    fn schema() -> Value {
        json!({"type": "number", "minimum": 0})
    }
}

impl FieldType for Value {
    const EXPECTED: &'static str = "a JSON value";

    fn read(value: Value) -> Result<Self, DecodeError> {
        Ok(value)
    }

    fn into_value(self) -> Value {
        self
    }

    fn schema() -> Value {
        json!(true)
    }
}

impl FieldType for Map<String, Value> {
    const EXPECTED: &'static str = "an object";

    fn read(value: Value) -> Result<Self, DecodeError> {
        Fields::of(value).map(Fields::rest)
    }

    fn into_value(self) -> Value {
        Value::Object(self)
    }

    fn schema() -> Value {
        json!({"type": "object"})
    }
}

impl<T: FieldType> FieldType for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn read(value: Value) -> Result<Self, DecodeError> {
        let Value::Array(items) = value else {
            return Err(DecodeError::WrongType {
                path: String::new(),
                expected: Self::EXPECTED,
                actual: type_name(&value).to_owned(),
            });
        };
        items
            .into_iter()
            .enumerate()
            .map(|(i, item)| T::read(item).map_err(|e| e.inside(&format!("[{i}]"))))
            .collect()
    }

    fn into_value(self) -> Value {
        Value::Array(self.into_iter().map(T::into_value).collect())
    }

    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: Value) -> Fields<'static> {
        Fields::of(value).unwrap()
    }

    #[test]
    fn a_missing_field_is_named_with_what_belongs_there() {
        let error = fields(json!({})).required::<String>("tool_use_id").unwrap_err();
        assert_eq!(error.to_string(), "missing required field `tool_use_id`: expected a string");
    }

    #[test]
    fn a_wrong_type_deep_inside_is_named_by_its_path() {
        let mut f = fields(json!({"a": [[1], ["x"]]}));
        let error = f.required::<Vec<Vec<String>>>("a").unwrap_err();
        assert_eq!(error.to_string(), "field `a[0][0]`: expected a string, found the number 1");
    }

    #[test]
    fn null_is_absent_for_an_optional_field_and_is_kept() {
        let mut f = fields(json!({"title": null}));
        assert_eq!(f.optional::<String>("title").unwrap(), None);
        assert_eq!(Value::Object(f.rest()), json!({"title": null}));
    }

    #[test]
    fn null_is_a_value_for_a_nullable_field_but_absence_is_an_error() {
        assert_eq!(fields(json!({"x": null})).nullable::<String>("x").unwrap(), None);
        assert!(fields(json!({})).nullable::<String>("x").is_err());
    }
}
