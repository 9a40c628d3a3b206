//! A worktree is no longer needed.

payload! {
    /// A worktree that a hook created is no longer needed.
    WorktreeRemovePayload of WorktreeRemove answered by WorktreeRemoveReply {
        /// The folder.
        required worktree_path: String,
    }
}

reply! {
    /// No reply is possible here.
    WorktreeRemoveReply to WorktreeRemove { verbs: [], top: [], specific: [], shared: [], }
}
