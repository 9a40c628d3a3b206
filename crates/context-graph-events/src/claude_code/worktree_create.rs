//! A worktree is wanted.

use crate::reply::Shape;

payload! {
    /// A worktree is wanted. A hook on this event replaces the client's own `git worktree`: it must make the folder.
    WorktreeCreatePayload of WorktreeCreate answered by WorktreeCreateReply {
        /// What it is to be called.
        required name: String,
    }
}

reply! {
    /// Where the hook made the worktree.
    WorktreeCreateReply to WorktreeCreate {
        verbs: [],
        top: [],
        specific: [("worktreePath", Shape::Text)],
        shared: [],
    }
}

impl WorktreeCreateReply {
    /// The folder that was made.
    pub fn created(path: impl Into<String>) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("worktreePath", path.into());
        reply
    }
}
