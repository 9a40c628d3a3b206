//! A task is being created.

payload! {
    /// A task is being created. Blocking makes the tool fail with the reason.
    TaskCreatedPayload of TaskCreated answered by TaskCreatedReply {
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
    /// What may be said when a task is being created.
    TaskCreatedReply to TaskCreated {
        verbs: [Block],
        top: [Decision, SystemMessage],
        specific: [],
        shared: [block, message],
    }
}
