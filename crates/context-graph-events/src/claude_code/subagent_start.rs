//! A subagent begins.

use crate::reply::Shape;

payload! {
    /// A subagent begins.
    SubagentStartPayload of SubagentStart answered by SubagentStartReply {
        /// The subagent's id, as on all its events.
        required agent_id: String,
        /// Its kind.
        required agent_type: String,
    }
}

reply! {
    /// The possible replies to a starting subagent.
    SubagentStartReply to SubagentStart {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
