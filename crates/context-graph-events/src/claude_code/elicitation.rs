//! An MCP server asks the user something.

use serde_json::{Map, Value};

use super::ElicitationMode;
use crate::reply::Shape;

payload! {
    /// An MCP server asks the user something.
    ElicitationPayload of Elicitation answered by ElicitationReply {
        /// The server.
        required mcp_server_name: String,
        /// What the user is asked.
        required message: String,
        /// The form of the question.
        optional mode: ElicitationMode,
        /// The page to open.
        optional url: String,
        /// The question's id.
        optional elicitation_id: String,
        /// The form, as a JSON Schema.
        optional requested_schema: Map<String, Value>,
    }
}

reply! {
    /// The answer on behalf of the user.
    ElicitationReply to Elicitation {
        verbs: [Deny, Modify],
        top: [],
        specific: [("action", Shape::OneOf(&["accept", "decline", "cancel"])), ("content", Shape::Object)],
        shared: [elicitation],
    }
}
