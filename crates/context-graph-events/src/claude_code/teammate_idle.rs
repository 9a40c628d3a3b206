//! A teammate is about to go idle.

payload! {
    /// A teammate is about to go idle.
    TeammateIdlePayload of TeammateIdle answered by TeammateIdleReply {
        /// Who.
        required teammate_name: String,
        /// In which team.
        required team_name: String,
    }
}

reply! {
    /// Nothing was found that a teammate listens to as JSON.
    TeammateIdleReply to TeammateIdle { verbs: [], top: [], specific: [], shared: [], }
}
