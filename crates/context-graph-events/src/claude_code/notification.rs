//! The client notifies its user.

use crate::reply::Shape;

open_enum! {
    /// What a notification is about.
    NotificationType {
        /// A permission dialog has been open for a while.
        PermissionPrompt = "permission_prompt",
        /// The agent waits for the user.
        IdlePrompt = "idle_prompt",
        /// A question of an MCP server was answered.
        ElicitationResponse = "elicitation_response",
    }
}

payload! {
    /// The client notifies its user. For side effects only: nothing said here changes what the agent does.
    NotificationPayload of Notification answered by NotificationReply {
        /// What the user is told.
        required message: String,
        /// A headline.
        optional title: String,
        /// What it is about. Client 2.1.325 always says so.
        optional notification_type: NotificationType,
    }
}

impl NotificationPayload {
    /// What the user is told.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the message contains this text.
    pub fn contains(&self, substring: &str) -> bool {
        self.message.contains(substring)
    }
}

reply! {
    /// What may be said to a notification.
    NotificationReply to Notification {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
