//! The session's current folder changed.

use crate::reply::Shape;

payload! {
    /// The session's current folder changed. The client does not wait for this hook.
    CwdChangedPayload of CwdChanged answered by CwdChangedReply {
        /// Where it was.
        required old_cwd: String,
        /// Where it is.
        required new_cwd: String,
    }
}

reply! {
    /// What may be said when the folder changes.
    CwdChangedReply to CwdChanged {
        verbs: [],
        top: [SystemMessage],
        specific: [("watchPaths", Shape::Texts)],
        shared: [watch, message],
    }
}
