//! A worktree is no longer wanted.

payload! {
    /// A worktree that a hook made is no longer wanted.
    WorktreeRemovePayload of WorktreeRemove answered by WorktreeRemoveReply {
        /// The folder.
        required worktree_path: String,
    }
}

reply! {
    /// Nothing can be said here.
    WorktreeRemoveReply to WorktreeRemove { verbs: [], top: [], specific: [], shared: [], }
}
