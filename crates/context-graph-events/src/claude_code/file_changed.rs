//! A watched file changed.

use crate::reply::Shape;

open_enum! {
    /// What happened to the file.
    FileChangeKind {
        /// Its content changed.
        Change = "change",
        /// It appeared.
        Add = "add",
        /// It was deleted.
        Unlink = "unlink",
    }
}

payload! {
    /// A watched file changed. The client does not wait for this hook.
    FileChangedPayload of FileChanged answered by FileChangedReply {
        /// The file.
        required file_path: String,
        /// What happened to it.
        required event: FileChangeKind,
    }
}

reply! {
    /// The possible replies when a file changed.
    FileChangedReply to FileChanged {
        verbs: [],
        top: [SystemMessage],
        specific: [("watchPaths", Shape::Texts)],
        shared: [watch, message],
    }
}
