//! A subagent wants to stop.

use super::{BackgroundTaskSummary, SessionCronSummary};
use crate::reply::Shape;

payload! {
    /// A subagent is about to conclude its response.
    SubagentStopPayload of SubagentStop answered by SubagentStopReply {
        /// Whether it already continues because of a stop hook.
        required stop_hook_active: bool,
        /// The subagent's id, as on all its events. Client 2.1.325 always sends it, with its transcript and
        /// kind.
        optional agent_id: String,
        /// Its own transcript file.
        optional agent_transcript_path: String,
        /// Its kind; empty for the client's own fork that writes the compaction summary.
        optional agent_type: String,
        /// Its last message.
        optional last_assistant_message: String,
        /// What runs in the background.
        optional background_tasks: Vec<BackgroundTaskSummary>,
        /// What the session has scheduled for itself.
        optional session_crons: Vec<SessionCronSummary>,
    }
}

impl SubagentStopPayload {
    stop_helpers!();

    /// Whether this is the client's own fork that writes the compaction summary.
    pub fn is_compaction_fork(&self) -> bool {
        self.agent_type.as_deref() == Some("")
    }
}

reply! {
    /// The possible replies to a subagent that wants to stop. Every refusal makes it continue with the reason.
    SubagentStopReply to SubagentStop {
        verbs: [Halt, Deny, Block, AddContext],
        top: [Decision, SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [block, context, message],
    }
}
