//! The conversation has been summarised.

use super::CompactTrigger;

payload! {
    /// The conversation has been summarised.
    PostCompactPayload of PostCompact answered by PostCompactReply {
        /// Who asked for it.
        required trigger: CompactTrigger,
        /// What is left of the conversation.
        required compact_summary: String,
    }
}

impl PostCompactPayload {
    /// Whether the client decided it.
    pub fn is_auto(&self) -> bool {
        self.trigger == CompactTrigger::Auto
    }
}

reply! {
    /// Nothing can be said here; `SessionStart` with source `compact` follows and takes context.
    PostCompactReply to PostCompact { verbs: [], top: [], specific: [], shared: [], }
}
