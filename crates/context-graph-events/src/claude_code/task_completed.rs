//! A task is being marked as completed.

payload! {
    /// A task is being marked as completed. Blocking makes the tool fail with the reason.
    TaskCompletedPayload of TaskCompleted answered by TaskCompletedReply {
        /// The task's id.
        required task_id: String,
        /// What it is, in a line.
        required task_subject: String,
        /// What it is, at length.
        optional task_description: String,
        /// Whose it is.
        optional teammate_name: String,
        /// In which team.
        optional team_name: String,
    }
}

reply! {
    /// What may be said when a task is being marked as completed.
    TaskCompletedReply to TaskCompleted {
        verbs: [Block],
        top: [Decision, SystemMessage],
        specific: [],
        shared: [block, message],
    }
}
