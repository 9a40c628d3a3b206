//! A settings file changed during the session.

open_enum! {
    /// Which settings changed.
    ConfigSource {
        /// The user's.
        UserSettings = "user_settings",
        /// The project's.
        ProjectSettings = "project_settings",
        /// The project's, for this machine only.
        LocalSettings = "local_settings",
        /// The organisation's.
        PolicySettings = "policy_settings",
        /// Skills.
        Skills = "skills",
    }
}

payload! {
    /// A settings file changed during the session.
    ConfigChangePayload of ConfigChange answered by ConfigChangeReply {
        /// Which settings.
        required source: ConfigSource,
        /// Which file.
        optional file_path: String,
    }
}

reply! {
    /// No reply field is known that the client reads here.
    ConfigChangeReply to ConfigChange { verbs: [], top: [], specific: [], shared: [], }
}
