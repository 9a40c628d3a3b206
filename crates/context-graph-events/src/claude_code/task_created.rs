//! A task is being created.

payload! {
    /// A task is being created. Blocking makes the tool fail with the reason.
    TaskCreatedPayload of TaskCreated answered by TaskCreatedReply {
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
    /// The possible replies when a task is being created.
    TaskCreatedReply to TaskCreated {
        verbs: [Block],
        top: [Decision, SystemMessage],
        specific: [],
        shared: [block, message],
    }
}
