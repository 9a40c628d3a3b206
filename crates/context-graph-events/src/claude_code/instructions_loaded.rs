//! An instruction file was read.

open_enum! {
    /// Whose instructions they are.
    MemoryType {
        /// The user's.
        User = "User",
        /// The project's.
        Project = "Project",
        /// The project's, for this machine only.
        Local = "Local",
        /// The organisation's.
        Managed = "Managed",
    }
}

open_enum! {
    /// Why the file was read.
    LoadReason {
        /// The session started.
        SessionStart = "session_start",
        /// A file below its folder was touched.
        NestedTraversal = "nested_traversal",
        /// A file that matches its globs was touched.
        PathGlobMatch = "path_glob_match",
        /// Another file includes it.
        Include = "include",
        /// The conversation was compacted.
        Compact = "compact",
    }
}

payload! {
    /// An instruction file (`CLAUDE.md` or a rule) was read. The client does not wait for this hook.
    InstructionsLoadedPayload of InstructionsLoaded answered by InstructionsLoadedReply {
        /// The file.
        required file_path: String,
        /// Whose instructions it holds.
        required memory_type: MemoryType,
        /// Why it was read.
        required load_reason: LoadReason,
        /// The globs of its rule.
        optional globs: Vec<String>,
        /// The file that was touched.
        optional trigger_file_path: String,
        /// The file that includes it.
        optional parent_file_path: String,
    }
}

reply! {
    /// No reply is possible here.
    InstructionsLoadedReply to InstructionsLoaded { verbs: [], top: [], specific: [], shared: [], }
}
