//! A folder was added to the session.

open_enum! {
    /// Who added it.
    DirectorySource {
        /// `/add-dir`.
        SlashCommand = "slash_command",
        /// A program that drives the client.
        RegisterRepoRoot = "register_repo_root",
    }
}

payload! {
    /// A working folder was added during the session.
    DirectoryAddedPayload of DirectoryAdded answered by DirectoryAddedReply {
        /// The folder.
        required directory: String,
        /// Who added it.
        required source: DirectorySource,
    }
}

reply! {
    /// No reply is possible here.
    DirectoryAddedReply to DirectoryAdded { verbs: [], top: [], specific: [], shared: [], }
}
