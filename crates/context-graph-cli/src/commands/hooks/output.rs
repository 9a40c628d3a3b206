//! Our own fields in the answer.

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICClassification;
use context_graph_core::session::Ruling;
use serde::{Deserialize, Serialize};

use super::error::ErrorCode;

/// What every hook answers. The client's own fields stand beside these in the same object; what is not known is
/// left out, never `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HookOutput {
    /// Whether the hook did its work.
    pub success: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The same for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The session's measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consciousness_state: Option<ConsciousnessState>,
    /// Its continuity, classified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ic_classification: Option<ICClassification>,
    /// What was put in front of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_injection: Option<String>,
    /// The session, where the caller did not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What was decided about a tool call, where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// What a session that ended came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_summary: Option<String>,
    /// What a person should know: damage that was found and mended, a session that had ended and goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// How long it took, to the start of writing this.
    pub execution_time_ms: u64,
}
