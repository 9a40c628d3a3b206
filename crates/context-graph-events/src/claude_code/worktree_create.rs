//! A worktree is requested.

use crate::reply::Shape;

payload! {
    /// A worktree is requested. A hook on this event replaces the client's own `git worktree`: it must create
    /// the folder.
    WorktreeCreatePayload of WorktreeCreate answered by WorktreeCreateReply {
        /// The name for the worktree.
        required name: String,
    }
}

reply! {
    /// The folder that the hook created.
    WorktreeCreateReply to WorktreeCreate {
        verbs: [],
        top: [],
        specific: [("worktreePath", Shape::Text)],
        shared: [],
    }
}

impl WorktreeCreateReply {
    /// The folder that was created.
    pub fn created(path: impl Into<String>) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("worktreePath", path.into());
        reply
    }
}
