//! The content of a message or of a tool's result, as the client and its model exchange it.

use serde_json::Value;

/// Its text: a plain string, or that of its blocks.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
