//! Text of the assistant is being shown.

use crate::reply::Shape;

payload! {
    /// Newly completed lines of the assistant's message are being shown. Fires many times a message.
    MessageDisplayPayload of MessageDisplay answered by MessageDisplayReply {
        /// The turn.
        required turn_id: String,
        /// The message.
        required message_id: String,
        /// Which part of the message this is, from 0.
        required index: u64,
        /// Whether it is the last part.
        required is_final = "final": bool,
        /// The newly completed lines.
        required delta: String,
    }
}

reply! {
    /// What may be shown instead.
    MessageDisplayReply to MessageDisplay {
        verbs: [Modify],
        top: [SystemMessage],
        specific: [("displayContent", Shape::Text)],
        shared: [message],
    }
}

impl MessageDisplayReply {
    /// Shows the user this text instead; the model's own record stays as it is.
    pub fn display(content: impl Into<String>) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("displayContent", content.into());
        reply
    }
}
