//! After a tool ran and failed.

use serde_json::{Number, Value};

use super::McpServerProvenance;
use crate::reply::Shape;

payload! {
    /// A tool ran and failed, or was interrupted.
    PostToolUseFailurePayload of PostToolUseFailure answered by PostToolUseFailureReply {
        /// The tool.
        required tool_name: String,
        /// The input as executed.
        required tool_input: Value,
        /// The call's id, as on its `PreToolUse`.
        required tool_use_id: String,
        /// The error text for the model.
        required error: String,
        /// Whether the user interrupted it.
        optional is_interrupt: bool,
        /// How long the tool itself took, in milliseconds.
        optional duration_ms: Number,
        /// The MCP server, for an MCP tool.
        optional mcp_server: McpServerProvenance,
    }
}

impl PostToolUseFailurePayload {
    tool_input_helpers!();

    /// Whether the user stopped it, which says nothing about the call itself.
    pub fn was_interrupted(&self) -> bool {
        self.is_interrupt == Some(true)
    }

    /// The exit code, if the error of a shell command contains one.
    pub fn exit_code(&self) -> Option<i32> {
        let rest = self.error.strip_prefix("Exit code ")?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

reply! {
    /// The possible replies after a tool failed.
    PostToolUseFailureReply to PostToolUseFailure {
        verbs: [Block, AddContext],
        top: [Decision, SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [block, context, message],
    }
}
