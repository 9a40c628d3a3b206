//! JSON Schema of our input and output, generated from the definitions that read and write them.

use serde_json::{Map, Value, json};

use crate::claude_code::{EventName, payload_schema, reply_spec};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// An object schema under construction.
#[derive(Debug, Default)]
pub struct ObjectSchema {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl ObjectSchema {
    /// An empty object schema.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a property that must be there.
    pub fn required(&mut self, key: &str, schema: Value) {
        self.optional(key, schema);
        if !self.required.iter().any(|k| k == key) {
            self.required.push(key.to_owned());
        }
    }

    /// Adds a property that may be absent.
    pub fn optional(&mut self, key: &str, schema: Value) {
        self.properties.insert(key.to_owned(), schema);
    }

    /// Adds a property that must be there and may be `null`.
    pub fn nullable(&mut self, key: &str, schema: Value) {
        self.required(key, or_null(schema));
    }

    /// Adds a property that may be absent or `null`.
    pub fn absent_or_null(&mut self, key: &str, schema: Value) {
        self.optional(key, or_null(schema));
    }

    /// The finished schema. Properties beyond the known ones are allowed.
    pub fn finish(self) -> Value {
        let mut schema = json!({"type": "object", "properties": self.properties});
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

fn or_null(schema: Value) -> Value {
    // `true` already allows everything.
    if schema == json!(true) { schema } else { json!({"anyOf": [schema, {"type": "null"}]}) }
}

/// Schema of every payload: `hook_event_name` selects the definition.
pub fn payloads() -> Value {
    let branches: Vec<Value> = EventName::ALL
        .iter()
        .map(|name| {
            json!({
                "if": {"properties": {"hook_event_name": {"const": name.as_str()}}},
                "then": {"$ref": format!("#/$defs/{name}")},
            })
        })
        .collect();
    let defs: Map<String, Value> =
        EventName::ALL.iter().map(|name| (name.as_str().to_owned(), payload_schema(*name))).collect();
    json!({
        "$schema": DRAFT,
        "title": "Claude Code hook payloads",
        "description": "What the client writes to a hook's stdin. Fields and values beyond these are kept.",
        "type": "object",
        "required": ["hook_event_name"],
        "properties": {"hook_event_name": {"type": "string"}},
        "allOf": branches,
        "$defs": defs,
    })
}

/// Schema of every reply, by event, under `$defs`.
pub fn replies() -> Value {
    let defs: Map<String, Value> = EventName::ALL
        .iter()
        .filter(|name| **name != EventName::PreCompact)
        .map(|name| (name.as_str().to_owned(), reply_spec(*name).schema()))
        .chain([("PreCompact".to_owned(), pre_compact_reply())])
        .collect();
    json!({
        "$schema": DRAFT,
        "title": "Claude Code hook replies",
        "description": "The client's fields in the object a hook prints, by event.",
        "$defs": defs,
    })
}

fn pre_compact_reply() -> Value {
    let mut schema = reply_spec(EventName::PreCompact).schema();
    schema["description"] = json!(
        "Only to refuse compaction. Anything else is printed as plain text, which the summariser reads."
    );
    schema
}

/// The table of verbs by event, in Markdown.
pub fn verb_table() -> String {
    use std::fmt::Write as _;

    let mut text = String::from(
        "## What each event can be told\n\n\
         A verb that an event does not carry has no constructor on its reply.\n\n\
         | event | verbs | fields of `hookSpecificOutput` |\n|---|---|---|\n",
    );
    for name in EventName::ALL {
        let spec = reply_spec(name);
        let verbs: Vec<&str> = spec.verbs.iter().map(|v| v.as_str()).collect();
        let fields: Vec<String> = spec.specific.iter().map(|(key, _)| format!("`{key}`")).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| `{name}` | {} | {} |", verbs.join(", "), fields.join(", "));
    }
    text
}
