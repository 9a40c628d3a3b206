//! Our own fields in the answer.

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICClassification;
use context_graph_core::session::Ruling;
use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;

/// What every hook answers. The client's own fields are in the same object. Unknown values are left out,
/// never `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HookOutput {
    /// Whether the hook succeeded.
    pub success: bool,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reason in one word, for programs. Also with `success`, if something could not be used: then `notices` says
    /// what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The session's measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consciousness_state: Option<ConsciousnessState>,
    /// The session's continuity, classified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ic_classification: Option<ICClassification>,
    /// What was added to the model's context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_injection: Option<String>,
    /// The session's id, if the caller did not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What was decided about the event, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// The summary of a session that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_summary: Option<String>,
    /// What the user should know: damage that was found and repaired, policies or settings that could not be used,
    /// files that are not trusted, a call that could not be recorded, an ended session that continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// How long it took until this was written.
    pub execution_time_ms: u64,
}
