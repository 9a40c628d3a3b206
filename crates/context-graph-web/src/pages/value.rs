//! A JSON value of a record for people: texts as they are, one field per line.

use maud::{Markup, html};
use serde_json::Value;

use crate::said::Said;

/// Texts with more lines are folded.
const LINES: usize = 24;

/// A value under a title.
pub(crate) fn section(title: &str, value: &Value) -> Markup {
    html! {
        section.value {
            h2 { (title) }
            @match value {
                Value::Object(fields) => dl.fields {
                    @for (name, value) in fields {
                        dt { (Said::new(name.as_str())) }
                        dd { (of(value)) }
                    }
                },
                other => { (of(other)) }
            }
        }
    }
}

fn of(value: &Value) -> Markup {
    match value {
        Value::String(text) if text.is_empty() => html! { span.muted { "empty" } },
        Value::String(text) => of_text(text),
        Value::Null => html! { code { "null" } },
        Value::Bool(_) | Value::Number(_) => html! { code { (value.to_string()) } },
        Value::Array(_) | Value::Object(_) => of_text(&format!("{value:#}")),
    }
}

/// A text, folded if it is long.
pub(crate) fn of_text(text: &str) -> Markup {
    let lines = text.lines().count();
    let whole = html! { pre.text { (Said::new(text)) } };
    if lines <= LINES {
        return whole;
    }
    html! { details.long { summary { (lines) " lines" } (whole) } }
}
