//! The client notifies its user.

use crate::reply::Shape;

open_enum! {
    /// The type of a notification.
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
    /// The client notifies its user. For side effects only: a reply does not change what the agent does.
    NotificationPayload of Notification answered by NotificationReply {
        /// The text for the user.
        required message: String,
        /// A title.
        optional title: String,
        /// Its type. Client 2.1.325 always sends it.
        optional notification_type: NotificationType,
    }
}

impl NotificationPayload {
    /// The text for the user.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the message contains this text.
    pub fn contains(&self, substring: &str) -> bool {
        self.message.contains(substring)
    }
}

reply! {
    /// The possible replies to a notification.
    NotificationReply to Notification {
        verbs: [AddContext],
        top: [SystemMessage],
        specific: [("additionalContext", Shape::Text)],
        shared: [context, message],
    }
}
