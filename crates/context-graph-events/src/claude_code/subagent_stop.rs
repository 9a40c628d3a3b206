//! A subagent wants to stop.

use super::{BackgroundTaskSummary, SessionCronSummary};
use crate::reply::Shape;

payload! {
    /// A subagent is about to conclude its response.
    SubagentStopPayload of SubagentStop answered by SubagentStopReply {
        /// Whether it already goes on because of a stop hook.
        required stop_hook_active: bool,
        /// The subagent, as on all its events. Client 2.1.325 always names it, and its transcript and kind.
        optional agent_id: String,
        /// Where its own transcript is.
        optional agent_transcript_path: String,
        /// Its kind; empty for the client's own fork that writes the compaction summary.
        optional agent_type: String,
        /// What it said last.
        optional last_assistant_message: String,
        /// What goes on in the background.
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
    /// What may be said to a subagent that wants to stop. Every refusal makes it go on with the reason.
    SubagentStopReply to SubagentStop {
        verbs: [Halt, Deny, Block, AddContext],
        top: [Decision, SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [block, context, message],
    }
}
