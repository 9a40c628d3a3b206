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

impl SubagentStartPayload {
    /// Whether it is of this kind.
    pub fn is_agent_type(&self, name: &str) -> bool {
        self.agent_type == name
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
