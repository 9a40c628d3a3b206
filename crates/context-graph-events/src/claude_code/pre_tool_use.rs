//! Before a tool runs: the only point at which a call can still be prevented.

use serde_json::{Map, Value};

use super::McpServerProvenance;
use crate::reply::Shape;

payload! {
    /// A tool is about to run.
    PreToolUsePayload of PreToolUse answered by PreToolUseReply {
        /// The tool: `Bash`, `Read`, `mcp__server__tool`, …
        required tool_name: String,
        /// Its input, with defaults filled in and absolute paths.
        required tool_input: Value,
        /// The call's id, the same on every event about it. Required, but may be empty.
        required tool_use_id: String,
        /// The MCP server, for an MCP tool.
        optional mcp_server: McpServerProvenance,
    }
}

impl PreToolUsePayload {
    tool_input_helpers!();
}

reply! {
    /// The possible replies before a tool runs.
    PreToolUseReply to PreToolUse {
        verbs: [Halt, Deny, Ask, Defer, Modify, Allow, AddContext],
        top: [Continue, SystemMessage],
        specific: [
            ("permissionDecision", Shape::OneOf(&["allow", "deny", "ask", "defer"])),
            ("permissionDecisionReason", Shape::Text),
            ("updatedInput", Shape::Object),
            ("additionalContext", Shape::Text)
        ],
        shared: [permission, context, message],
    }
}

impl PreToolUseReply {
    /// Ends a print-mode run with this call pending.
    pub fn defer() -> Self {
        Self::decide("defer")
    }

    /// Does not run it and ends the turn. On a bare `continue: false` the client still runs the tool, so this
    /// also denies.
    pub fn halt(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let mut reply = Self::deny(reason.clone());
        reply.0.stop_turn(reason);
        reply
    }

    /// Runs it with other input. The client replaces the whole input; it does not merge.
    #[must_use]
    pub fn with_updated_input(mut self, whole_input: Map<String, Value>) -> Self {
        self.0.set_specific("updatedInput", whole_input);
        self
    }
}
