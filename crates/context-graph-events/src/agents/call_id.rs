//! Ids for calls of agents that send none.

use serde_json::Value;

/// What a derived id begins with.
const DERIVED: &str = "derived-";

/// Whether we derived this id. Equal calls get equal ids. So an equal request is a new call only after the first one
/// was answered.
pub fn is_derived(id: &str) -> bool {
    id.starts_with(DERIVED)
}

/// The id of a call that has none.
pub(crate) fn derive(session_id: &str, tool: &str, input: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [session_id, tool, &input.to_string()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    format!("{DERIVED}{}", &hasher.finalize().to_hex()[..24])
}
