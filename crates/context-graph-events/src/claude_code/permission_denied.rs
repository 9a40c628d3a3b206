//! Auto mode refused a call.

use serde_json::Value;

use super::McpServerProvenance;
use crate::reply::Shape;

payload! {
    /// Auto mode's classifier refused a call.
    PermissionDeniedPayload of PermissionDenied answered by PermissionDeniedReply {
        /// The tool.
        required tool_name: String,
        /// Its input.
        required tool_input: Value,
        /// The call's id.
        required tool_use_id: String,
        /// Why it was refused.
        required reason: String,
        /// The MCP server, for an MCP tool.
        optional mcp_server: McpServerProvenance,
    }
}

impl PermissionDeniedPayload {
    tool_input_helpers!();
}

reply! {
    /// The possible replies to a refusal.
    PermissionDeniedReply to PermissionDenied {
        verbs: [],
        top: [SystemMessage],
        specific: [("retry", Shape::Flag)],
        shared: [message],
    }
}

impl PermissionDeniedReply {
    /// Whether the refusal should be checked again.
    pub fn retry(again: bool) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("retry", again);
        reply
    }
}
