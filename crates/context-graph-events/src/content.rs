//! The content of a message or of a tool's result, as the client and its model exchange it.

use serde_json::Value;

/// The text of some content: the string itself, or the texts of its blocks, joined by line breaks.
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
