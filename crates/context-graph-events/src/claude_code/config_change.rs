//! A settings file changed while the session runs.

open_enum! {
    /// Which settings changed.
    ConfigSource {
        /// The user's.
        UserSettings = "user_settings",
        /// The project's.
        ProjectSettings = "project_settings",
        /// The project's, of this machine.
        LocalSettings = "local_settings",
        /// The organisation's.
        PolicySettings = "policy_settings",
        /// Skills.
        Skills = "skills",
    }
}

payload! {
    /// A settings file changed while the session runs.
    ConfigChangePayload of ConfigChange answered by ConfigChangeReply {
        /// Which settings.
        required source: ConfigSource,
        /// Which file.
        optional file_path: String,
    }
}

reply! {
    /// Nothing was found that the client listens to here.
    ConfigChangeReply to ConfigChange { verbs: [], top: [], specific: [], shared: [], }
}
