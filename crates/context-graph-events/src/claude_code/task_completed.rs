//! A task is being marked as completed.

payload! {
    /// A task is being marked as completed. Blocking makes the tool fail with the reason.
    TaskCompletedPayload of TaskCompleted answered by TaskCompletedReply {
        /// The task's id.
        required task_id: String,
        /// The task in one line.
        required task_subject: String,
        /// The full description.
        optional task_description: String,
        /// The teammate it belongs to.
        optional teammate_name: String,
        /// The team.
        optional team_name: String,
    }
}

reply! {
    /// The possible replies when a task is being marked as completed.
    TaskCompletedReply to TaskCompleted {
        verbs: [Block],
        top: [Decision, SystemMessage],
        specific: [],
        shared: [block, message],
    }
}
