//! A session begins or continues.

use serde_json::Number;

use crate::reply::Shape;

open_enum! {
    /// Why the session starts.
    SessionSource {
        /// A new session.
        Startup = "startup",
        /// An old session continues.
        Resume = "resume",
        /// The user cleared the conversation.
        Clear = "clear",
        /// The conversation was compacted.
        Compact = "compact",
        /// A copy of another session.
        Fork = "fork",
    }
}

payload! {
    /// A session begins or continues.
    SessionStartPayload of SessionStart answered by SessionStartReply {
        /// Why it starts.
        required source: SessionSource,
        /// The model, if it is already known.
        optional model: String,
        /// The session's title.
        optional session_title: String,
        /// On resume: how long the session was idle.
        optional seconds_since_last_response: Number,
        /// On resume: how full the context is.
        optional context_tokens: Number,
        /// On resume: whether the prompt cache has probably expired.
        optional prompt_cache_likely_expired: bool,
        /// On resume: the estimated cost of filling the cache again.
        optional estimated_cache_write_usd: Number,
    }
}

impl SessionStartPayload {
    /// Whether a new session starts.
    pub fn is_startup(&self) -> bool {
        self.source == SessionSource::Startup
    }

    /// Whether an old session is resumed.
    pub fn is_resume(&self) -> bool {
        self.source == SessionSource::Resume
    }

    /// Whether the user cleared the conversation.
    pub fn is_clear(&self) -> bool {
        self.source == SessionSource::Clear
    }

    /// Whether the conversation was compacted.
    pub fn is_compact(&self) -> bool {
        self.source == SessionSource::Compact
    }

    /// Whether this is a copy of another session.
    pub fn is_fork(&self) -> bool {
        self.source == SessionSource::Fork
    }

    /// The source as a fixed word; `other` for an unknown one.
    pub fn source_str(&self) -> &'static str {
        match self.source {
            SessionSource::Startup => "startup",
            SessionSource::Resume => "resume",
            SessionSource::Clear => "clear",
            SessionSource::Compact => "compact",
            SessionSource::Fork => "fork",
            SessionSource::Other(_) => "other",
        }
    }
}

reply! {
    /// The possible replies when a session starts.
    SessionStartReply to SessionStart {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [
            ("additionalContext", Shape::Text),
            ("initialUserMessage", Shape::Text),
            ("sessionTitle", Shape::Text),
            ("watchPaths", Shape::Texts),
            ("reloadSkills", Shape::Flag)
        ],
        shared: [context, watch, message],
    }
}

impl SessionStartReply {
    /// Sends this as the first user message.
    #[must_use]
    pub fn with_initial_user_message(mut self, text: impl Into<String>) -> Self {
        self.0.set_specific("initialUserMessage", text.into());
        self
    }

    /// Gives the session a title.
    #[must_use]
    pub fn with_session_title(mut self, title: impl Into<String>) -> Self {
        self.0.set_specific("sessionTitle", title.into());
        self
    }

    /// Makes the client reload its skills.
    #[must_use]
    pub fn with_reloaded_skills(mut self) -> Self {
        self.0.set_specific("reloadSkills", true);
        self
    }
}
