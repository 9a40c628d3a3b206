//! Names that the hook contract requires at this path. They are defined elsewhere, and the program uses them
//! from there. Only the two traits below are defined here, since nothing but the contract needs them.
//!
//! | contract | defined in |
//! |---|---|
//! | `pub enum HookEventType`, `pub struct HookInput` (`pub payload: HookPayload`) | `events/src/envelope/mod.rs` |
//! | `pub enum HookPayload` | `events/src/envelope/payload.rs` |
//! | `pub struct ConversationMessage` | `events/src/envelope/message.rs` |
//! | `pub enum SessionEndStatus` | `events/src/claude_code/session_end.rs` |
//! | `pub struct HookOutput` | `output.rs` |
//! | budgets (`timeout_ms`) | `budget.rs` |
//! | `ConsciousnessState`, `ICClassification`, `ICLevel`, `JohariQuadrant` | `core/src/gwt/` |
//!
//! The contract also requires these, and the program itself does not use them:
//!
//! | contract | defined in |
//! |---|---|
//! | `JOHARI_LOW_THRESHOLD` | `core/src/gwt/johari.rs` |
//! | `ICMonitor::new`, `update`, `compute_ic` | `core/src/gwt/ic_monitor.rs` |
//! | `HookEventType::is_fast_path`; `HookInput::is_fast_path`, `from_json` | `events/src/envelope/mod.rs` |
//! | `HookPayload::tool_name`, `prompt`, `duration_ms`, and all `is_…` | `events/src/envelope/payload.rs` |
//! | `ConversationMessage::user`, `assistant`, `system` | `events/src/envelope/message.rs` |
//! | `trait InjectsContext` | `events/src/claude_code/mod.rs` |
//! | `is_tool` and `parse_tool_input` of tool events | `events/src/claude_code/shared.rs` |
//! | `SessionStartPayload::source_str`, and all `is_…` | `events/src/claude_code/session_start.rs` |
//! | `PostToolUsePayload::was_successful`, `get_output` | `events/src/claude_code/post_tool_use.rs` |
//! | `PreCompactPayload::is_manual`, `is_auto`, `instructions` | `events/src/claude_code/pre_compact.rs` |
//! | `UserPromptSubmitPayload::contains`, `preview` | `events/src/claude_code/user_prompt_submit.rs` |
//! | `NotificationPayload::message`, `contains` | `events/src/claude_code/notification.rs` |
//! | `SessionIdentityManager::open`, `save`, `update_ic_and_trajectory`, `get_cached`, `link_sessions`, `persist_final` | `storage/src/session_identity.rs` |

pub use context_graph_core::gwt::consciousness::ConsciousnessState;
pub use context_graph_core::gwt::ic_monitor::{ICClassification, ICLevel};
pub use context_graph_core::gwt::johari::JohariQuadrant;
pub use context_graph_events::claude_code::SessionEndStatus;
pub use context_graph_events::envelope::{
    ConversationMessage, HookEventType, HookInput, HookPayload, StatedError,
};

pub use super::output::HookOutput;

use super::budget;
use crate::clock;

#[cfg(test)]
#[path = "hook_payload_tests.rs"]
mod hook_payload_tests;

/// Parts of the envelope's contract that the events crate cannot provide: it has no clock and no budgets.
pub trait HookContract {
    /// The time budget of the hook.
    fn timeout_ms(&self) -> u64;
}

impl HookContract for HookEventType {
    fn timeout_ms(&self) -> u64 {
        budget::of_type(*self)
    }
}

impl HookContract for HookInput {
    fn timeout_ms(&self) -> u64 {
        self.hook_type.timeout_ms()
    }
}

/// Creates envelopes.
pub trait NewEnvelope {
    /// An envelope with the current time.
    fn new(hook_type: HookEventType, session_id: impl Into<String>, payload: HookPayload) -> Self;
}

impl NewEnvelope for HookInput {
    fn new(hook_type: HookEventType, session_id: impl Into<String>, payload: HookPayload) -> Self {
        Self::with_timestamp(hook_type, session_id, clock::now_ms(), payload)
    }
}
