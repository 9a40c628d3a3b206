//! Ids of traces and spans. They are derived from the content: exporting again gives the same ids, so a receiver
//! recognises what it already has.

/// Separates these hashes from all others.
const CONTEXT: &str = "context-graph 2026-11-15 ids of exported traces and spans";

/// The trace id of a session.
pub(super) fn trace(session_id: &str) -> String {
    derived(&["trace", session_id], 16)
}

/// The span id of one thing in a session: `kind` and `id` say which.
pub(super) fn span(session_id: &str, kind: &str, id: &str) -> String {
    derived(&["span", session_id, kind, id], 8)
}

fn derived(parts: &[&str], bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    for part in parts {
        // The length comes first, so that two parts cannot be mistaken for one.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..2 * bytes].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_the_right_size_repeat_and_differ() {
        assert_eq!((trace("s").len(), span("s", "call", "a").len()), (32, 16));
        // They must never change: receivers recognise earlier exports by them.
        assert_eq!(trace("s"), "df7b5d004a71c721e75fa4bab6882cff");
        assert_eq!(span("s", "call", "a"), "71ee4f07e4922c10");
        assert_ne!(span("s", "call", "a"), span("s", "prompt", "a"));
        assert_ne!(span("sc", "all", "a"), span("s", "call", "a"));
    }
}
