//! A session ends.

open_enum! {
    /// Why the session ended.
    ExitReason {
        /// The user cleared the conversation.
        Clear = "clear",
        /// Another session was resumed instead.
        Resume = "resume",
        /// The user logged out.
        Logout = "logout",
        /// The user left at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// The client says `other`: every print-mode end, and signals.
        Unspecified = "other",
    }
}

payload! {
    /// A session ends. The client gives a hook about a second and a half here unless its timeout is set.
    SessionEndPayload of SessionEnd answered by SessionEndReply {
        /// Why.
        required reason: ExitReason,
    }
}

impl SessionEndPayload {
    /// Whether the user cleared the conversation, so that another session follows at once.
    pub fn is_clear(&self) -> bool {
        self.reason == ExitReason::Clear
    }
}

reply! {
    /// Nothing can be said to a session that ends.
    SessionEndReply to SessionEnd { verbs: [], top: [], specific: [], shared: [], }
}
