//! A teammate is about to go idle.

payload! {
    /// A teammate is about to go idle.
    TeammateIdlePayload of TeammateIdle answered by TeammateIdleReply {
        /// The teammate.
        required teammate_name: String,
        /// The team.
        required team_name: String,
    }
}

reply! {
    /// No reply field is known that a teammate reads as JSON.
    TeammateIdleReply to TeammateIdle { verbs: [], top: [], specific: [], shared: [], }
}
