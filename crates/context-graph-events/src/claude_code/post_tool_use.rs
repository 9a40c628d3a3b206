//! After a tool ran and succeeded.

use serde_json::{Number, Value};

use super::McpServerProvenance;
use crate::outcome::Outcome;
use crate::reply::Shape;

payload! {
    /// A tool ran and succeeded. A failed call arrives as `PostToolUseFailure` instead.
    PostToolUsePayload of PostToolUse answered by PostToolUseReply {
        /// The tool.
        required tool_name: String,
        /// The input as executed, after any hook changed it.
        required tool_input: Value,
        /// The result: an object for built-in tools, content blocks for MCP tools.
        required tool_response: Value,
        /// The call's id, as on its `PreToolUse`.
        required tool_use_id: String,
        /// How long the tool itself took, in milliseconds.
        optional duration_ms: Number,
        /// The MCP server, for an MCP tool.
        optional mcp_server: McpServerProvenance,
    }
}

impl PostToolUsePayload {
    tool_input_helpers!();

    /// Whether the tool says it succeeded; `None` if its response does not say.
    pub fn was_successful(&self) -> Option<bool> {
        let ran_to_its_end = self.tool_response.get("interrupted") == Some(&Value::Bool(false));
        match self.stated_outcome() {
            Some(outcome) => Some(outcome == Outcome::Success),
            None => ran_to_its_end.then_some(true),
        }
    }

    /// The tool's text output: standard output, a file's content or the first text block.
    pub fn get_output(&self) -> Option<&str> {
        let response = &self.tool_response;
        let text_of = |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_str).is_some();
        match response {
            Value::String(text) => Some(text),
            Value::Array(blocks) => first_text(blocks),
            _ => ["stdout", "output", "content", "text", "result"]
                .iter()
                .find(|key| text_of(response, key))
                .and_then(|key| response.get(key)?.as_str())
                .or_else(|| response.get("file")?.get("content")?.as_str())
                .or_else(|| first_text(response.get("content")?.as_array()?)),
        }
    }

    /// The error that the tool reported in its response, if any.
    pub fn get_error(&self) -> Option<&str> {
        let error = self.tool_response.get("error")?;
        error.as_str().or_else(|| error.get("message")?.as_str()).filter(|text| !text.is_empty())
    }
}

fn first_text(blocks: &[Value]) -> Option<&str> {
    blocks.iter().find_map(|block| block.get("text")?.as_str())
}

reply! {
    /// The possible replies after a tool ran. Nothing here undoes the call.
    PostToolUseReply to PostToolUse {
        verbs: [Halt, Deny, Block, Modify, AddContext],
        top: [Continue, Decision, SystemMessage],
        specific: [
            ("additionalContext", Shape::Text),
            ("classifierContext", Shape::Text),
            ("updatedToolOutput", Shape::Any),
            ("updatedMCPToolOutput", Shape::Any)
        ],
        shared: [block, halt, context, message],
    }
}

impl PostToolUseReply {
    /// Shows the model another result. It must have the format of the tool's own.
    #[must_use]
    pub fn with_updated_output(mut self, output: Value) -> Self {
        if !output.is_null() {
            self.0.set_specific("updatedToolOutput", output);
        }
        self
    }

    /// Shows the model another result of an MCP tool.
    #[must_use]
    pub fn with_updated_mcp_output(mut self, output: Value) -> Self {
        if !output.is_null() {
            self.0.set_specific("updatedMCPToolOutput", output);
        }
        self
    }

    /// Tells the auto-mode classifier something about this call.
    #[must_use]
    pub fn with_classifier_context(mut self, text: impl Into<String>) -> Self {
        self.0.set_specific("classifierContext", text.into());
        self
    }
}
