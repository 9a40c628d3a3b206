//! The conversation has been summarised.

use super::CompactTrigger;

payload! {
    /// The conversation has been summarised.
    PostCompactPayload of PostCompact answered by PostCompactReply {
        /// Who asked for it.
        required trigger: CompactTrigger,
        /// The summary that replaces the conversation.
        required compact_summary: String,
    }
}

impl PostCompactPayload {
    /// Whether the client started it.
    pub fn is_auto(&self) -> bool {
        self.trigger == CompactTrigger::Auto
    }
}

reply! {
    /// No reply is possible here. `SessionStart` with source `compact` follows and accepts context.
    PostCompactReply to PostCompact { verbs: [], top: [], specific: [], shared: [], }
}
