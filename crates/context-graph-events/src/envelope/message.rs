//! A message of the conversation before a prompt.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::decode::DecodeError;
use crate::fields::Fields;

/// One message of the conversation so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMessage {
    /// `user`, `assistant` or `system`; must not be empty.
    #[serde(deserialize_with = "not_empty")]
    pub role: String,
    /// The text; must not be empty.
    #[serde(deserialize_with = "not_empty")]
    pub content: String,
}

fn not_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match String::deserialize(deserializer)? {
        empty if empty.trim().is_empty() => Err(D::Error::invalid_length(0, &"a text that is not empty")),
        text => Ok(text),
    }
}

impl ConversationMessage {
    /// A message of any role.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }

    /// A message of the user's.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// A message of the model's.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }

    /// A message of the system's.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    fn read(value: Value) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value)?;
        let mut text = |key: &str| match fields.required::<String>(key)? {
            empty if empty.trim().is_empty() => Err(DecodeError::WrongType {
                path: key.to_owned(),
                expected: "a text that is not empty",
                actual: "an empty one".to_owned(),
            }),
            text => Ok(text),
        };
        Ok(Self { role: text("role")?, content: text("content")? })
    }

    /// Reads messages. An error says which message is wrong.
    pub fn read_all(values: Vec<Value>) -> Result<Vec<Self>, DecodeError> {
        let read = |(at, value)| Self::read(value).map_err(|error| error.inside(&format!("[{at}]")));
        values.into_iter().enumerate().map(read).collect()
    }

    /// Writes messages as a client would send them.
    pub fn write_all(messages: Vec<Self>) -> Value {
        let write = |message: Self| json!({"role": message.role, "content": message.content});
        messages.into_iter().map(write).collect()
    }
}
