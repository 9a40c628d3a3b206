//! The user is about to be asked for permission.

use serde_json::{Map, Value, json};

use super::McpServerProvenance;
use crate::reply::Shape;

payload! {
    /// The user is about to be asked whether a call may run. A hook can answer instead.
    PermissionRequestPayload of PermissionRequest answered by PermissionRequestReply {
        /// The tool.
        required tool_name: String,
        /// Its input.
        required tool_input: Value,
        /// The call's id. Client 2.1.325 does not send it.
        optional tool_use_id: String,
        /// Rules the dialog offers to add.
        optional permission_suggestions: Vec<Value>,
        /// The MCP server, for an MCP tool.
        optional mcp_server: McpServerProvenance,
    }
}

impl PermissionRequestPayload {
    tool_input_helpers!();

    /// The call's id; empty if the client sent none.
    pub fn tool_use_id(&self) -> &str {
        self.tool_use_id.as_deref().unwrap_or("")
    }
}

reply! {
    /// The answer on behalf of the user. There is no `ask`: the event is the question.
    PermissionRequestReply to PermissionRequest {
        verbs: [Halt, Deny, Block, Modify, Allow],
        top: [SystemMessage],
        specific: [("decision", Shape::PermissionDecision)],
        shared: [message],
    }
}

impl PermissionRequestReply {
    fn decide(decision: Value) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("decision", decision);
        reply
    }

    /// Lets it run.
    pub fn allow() -> Self {
        Self::decide(json!({"behavior": "allow"}))
    }

    /// Lets it run with other input. The client replaces the whole input.
    pub fn allow_with_input(whole_input: Map<String, Value>) -> Self {
        Self::decide(json!({"behavior": "allow", "updatedInput": whole_input}))
    }

    /// Lets it run and changes the permission rules, each in the client's `PermissionUpdate` format.
    pub fn allow_with_permissions(updates: Vec<Map<String, Value>>) -> Self {
        Self::decide(json!({"behavior": "allow", "updatedPermissions": updates}))
    }

    /// Does not let it run; the model gets the reason.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::decide(json!({"behavior": "deny", "message": message.into()}))
    }

    /// Does not let it run and stops the agent.
    pub fn deny_and_interrupt(message: impl Into<String>) -> Self {
        Self::decide(json!({"behavior": "deny", "message": message.into(), "interrupt": true}))
    }
}
