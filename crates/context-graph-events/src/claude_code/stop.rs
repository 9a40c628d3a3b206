//! The agent wants to stop.

use super::{BackgroundTaskSummary, SessionCronSummary};
use crate::reply::Shape;

payload! {
    /// The agent is about to conclude its response.
    StopPayload of Stop answered by StopReply {
        /// Whether it already continues because of a stop hook.
        required stop_hook_active: bool,
        /// Its last message.
        optional last_assistant_message: String,
        /// What runs in the background.
        optional background_tasks: Vec<BackgroundTaskSummary>,
        /// What the session has scheduled for itself.
        optional session_crons: Vec<SessionCronSummary>,
    }
}

impl StopPayload {
    stop_helpers!();
}

reply! {
    /// The possible replies to an agent that wants to stop. Every refusal makes it continue, with the reason as
    /// its next prompt: a refusal here refuses the stop.
    StopReply to Stop {
        verbs: [Halt, Deny, Block, AddContext],
        top: [Continue, Decision, SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [block, halt, context, message],
    }
}
