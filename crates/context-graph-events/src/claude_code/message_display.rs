//! A message of the assistant is being shown.

use crate::reply::Shape;

payload! {
    /// New complete lines of the assistant's message are being shown. Fires many times per message.
    MessageDisplayPayload of MessageDisplay answered by MessageDisplayReply {
        /// The turn's id.
        required turn_id: String,
        /// The message's id.
        required message_id: String,
        /// The index of this part of the message, from 0.
        required index: u64,
        /// Whether it is the last part.
        required is_final = "final": bool,
        /// The newly completed lines.
        required delta: String,
    }
}

reply! {
    /// The possible replies.
    MessageDisplayReply to MessageDisplay {
        verbs: [Modify],
        top: [SystemMessage],
        specific: [("displayContent", Shape::Text)],
        shared: [message],
    }
}

impl MessageDisplayReply {
    /// Shows this text to the user instead; the model's own record does not change.
    pub fn display(content: impl Into<String>) -> Self {
        let mut reply = Self::default();
        reply.0.set_specific("displayContent", content.into());
        reply
    }
}
