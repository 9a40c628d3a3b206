//! A question of an MCP server was answered.

use serde_json::{Map, Value};

use super::{ElicitationAction, ElicitationMode};
use crate::reply::Shape;

payload! {
    /// A question of an MCP server was answered.
    ElicitationResultPayload of ElicitationResult answered by ElicitationResultReply {
        /// The server.
        required mcp_server_name: String,
        /// The question's id.
        optional elicitation_id: String,
        /// How it was asked.
        optional mode: ElicitationMode,
        /// How the user reacted.
        required action: ElicitationAction,
        /// The answer.
        optional content: Map<String, Value>,
    }
}

reply! {
    /// The answer on behalf of the user.
    ElicitationResultReply to ElicitationResult {
        verbs: [Deny, Modify],
        top: [],
        specific: [("action", Shape::OneOf(&["accept", "decline", "cancel"])), ("content", Shape::Object)],
        shared: [elicitation],
    }
}
