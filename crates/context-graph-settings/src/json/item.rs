//! A value to write, with its keys in a fixed order.

use serde_json::{Value, json};

use super::layout::Style;
use super::node::Node;

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Text(String),
    Number(u64),
    Bool(bool),
    List(Vec<Item>),
    Object(Vec<(&'static str, Item)>),
}

impl Item {
    /// A list of strings.
    pub(crate) fn texts(texts: &[String]) -> Self {
        Self::List(texts.iter().cloned().map(Self::Text).collect())
    }

    /// Whether the JSON value at `node` equals this item.
    pub(crate) fn equals(&self, node: &Node, text: &str) -> bool {
        let there = text.get(node.span.clone()).and_then(|bytes| serde_json::from_str::<Value>(bytes).ok());
        match (self, there) {
            // To the client, 5, 5.0 and 5e0 are one number.
            (Self::Number(_), Some(Value::Number(there))) => there.as_f64() == self.to_value().as_f64(),
            (_, there) => there == Some(self.to_value()),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(number) => json!(number),
            Self::Bool(value) => json!(value),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => Value::Object(
                members.iter().map(|(key, item)| ((*key).to_owned(), item.to_value())).collect(),
            ),
        }
    }

    /// The value on one line.
    pub(crate) fn on_one_line(&self, style: &Style) -> String {
        let comma = format!(",{}", style.gap);
        match self {
            Self::Text(_) | Self::Number(_) | Self::Bool(_) => self.to_value().to_string(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.on_one_line(style)).collect();
                format!("[{}]", items.join(&comma))
            }
            Self::Object(members) => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, item)| format!("{}{}{}", quoted(key), style.colon, item.on_one_line(style)))
                    .collect();
                format!("{{{}}}", members.join(&comma))
            }
        }
    }

    /// The value over several lines, inside a line indented by `indent`. A list of plain values stays on one
    /// line.
    pub(crate) fn over_lines(&self, style: &Style, indent: &str) -> String {
        let deeper = format!("{indent}{}", style.indent);
        let newline = style.newline;
        let children: Vec<String> = match self {
            Self::List(items) if items.iter().any(|item| matches!(item, Self::List(_) | Self::Object(_))) => {
                items.iter().map(|item| item.over_lines(style, &deeper)).collect()
            }
            Self::Object(members) if !members.is_empty() => members
                .iter()
                .map(|(key, item)| {
                    format!("{}{}{}", quoted(key), style.colon, item.over_lines(style, &deeper))
                })
                .collect(),
            _ => return self.on_one_line(style),
        };
        let (open, close) = if matches!(self, Self::List(_)) { ('[', ']') } else { ('{', '}') };
        let between = format!(",{newline}{deeper}");
        format!("{open}{newline}{deeper}{}{newline}{indent}{close}", children.join(&between))
    }
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
