//! Ids for calls of agents that send none.

use serde_json::Value;

/// What a derived id begins with.
const DERIVED: &str = "derived-";

/// Whether an id was made by us. Two equal calls have the same one: the same request after an answer is a new call;
/// two equal requests before an answer count as one.
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
