//! Attributes of spans, events and resources.

use serde::Serialize;

/// Attributes in insertion order. Empty or unknown values are left out.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<KeyValue>);

#[derive(Debug, Serialize)]
struct KeyValue {
    key: &'static str,
    value: AnyValue,
}

#[derive(Debug, Serialize)]
enum AnyValue {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "boolValue")]
    Flag(bool),
    /// A 64-bit number. In OTLP/JSON it is a string.
    #[serde(rename = "intValue")]
    Number(String),
    #[serde(rename = "arrayValue")]
    List { values: Vec<AnyValue> },
}

impl Attributes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub(super) fn text(self, key: &'static str, text: &str) -> Self {
        self.maybe(key, Some(text))
    }

    #[must_use]
    pub(super) fn maybe(self, key: &'static str, text: Option<&str>) -> Self {
        let text = text.filter(|text| !text.is_empty());
        self.push(key, text.map(|text| AnyValue::Text(text.to_owned())))
    }

    #[must_use]
    pub(super) fn number(self, key: &'static str, number: Option<u64>) -> Self {
        self.push(key, number.map(|number| AnyValue::Number(number.to_string())))
    }

    #[must_use]
    pub(super) fn flag(self, key: &'static str, flag: bool) -> Self {
        self.push(key, Some(AnyValue::Flag(flag)))
    }

    #[must_use]
    pub(super) fn list(self, key: &'static str, items: &[String]) -> Self {
        let values = || items.iter().cloned().map(AnyValue::Text).collect();
        self.push(key, (!items.is_empty()).then(|| AnyValue::List { values: values() }))
    }

    fn push(mut self, key: &'static str, value: Option<AnyValue>) -> Self {
        self.0.extend(value.map(|value| KeyValue { key, value }));
        self
    }
}
