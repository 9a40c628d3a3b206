//! The session's current folder changed.

use crate::reply::Shape;

payload! {
    /// The session's current folder changed. The client does not wait for this hook.
    CwdChangedPayload of CwdChanged answered by CwdChangedReply {
        /// The folder before.
        required old_cwd: String,
        /// The folder now.
        required new_cwd: String,
    }
}

reply! {
    /// The possible replies when the folder changes.
    CwdChangedReply to CwdChanged {
        verbs: [],
        top: [SystemMessage],
        specific: [("watchPaths", Shape::Texts)],
        shared: [watch, message],
    }
}
