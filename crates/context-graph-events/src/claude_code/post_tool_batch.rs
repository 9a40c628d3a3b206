//! After all tool calls of one response of the model.

use serde_json::Value;

use crate::reply::Shape;

record! {
    /// One call of a batch.
    PostToolBatchToolCall {
        /// The tool.
        required tool_name: String,
        /// Its input.
        required tool_input: Value,
        /// The call's id.
        required tool_use_id: String,
        /// What the model gets to see: text or content blocks.
        optional tool_response: Value,
    }
}

payload! {
    /// All calls of one response of the model are done. Only this event reports calls that never reached a tool.
    PostToolBatchPayload of PostToolBatch answered by PostToolBatchReply {
        /// The calls, one entry each.
        required tool_calls: Vec<PostToolBatchToolCall>,
    }
}

impl PostToolBatchPayload {
    /// The entry of one call.
    pub fn call(&self, tool_use_id: &str) -> Option<&PostToolBatchToolCall> {
        self.tool_calls.iter().find(|call| call.tool_use_id == tool_use_id)
    }
}

reply! {
    /// The possible replies after a batch.
    PostToolBatchReply to PostToolBatch {
        verbs: [Halt, AddContext],
        top: [Continue, SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [halt, context, message],
    }
}
