//! The conversation is about to be summarised.

use super::CompactTrigger;
use crate::claude_code::EventName;
use crate::reply::{HookReply, ReplyBody, ReplyFields, ReplySpec, TopField, Verb};

payload! {
    /// The conversation is about to be summarised.
    PreCompactPayload of PreCompact answered by PreCompactReply {
        /// Who asked for it.
        required trigger: CompactTrigger,
        /// What the user wrote after `/compact`; absent or `null` if nothing.
        optional custom_instructions: String,
    }
}

impl PreCompactPayload {
    /// Whether the user asked for it.
    pub fn is_manual(&self) -> bool {
        self.trigger == CompactTrigger::Manual
    }

    /// Whether the client started it.
    pub fn is_auto(&self) -> bool {
        self.trigger == CompactTrigger::Auto
    }

    /// What the user wrote after `/compact`.
    pub fn instructions(&self) -> Option<&str> {
        self.custom_instructions.as_deref()
    }
}

/// The possible replies before compaction. The client uses all of stdout, JSON or not, as instructions for the
/// summariser. Only a refusal is read as JSON.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PreCompactReply {
    /// No opinion: nothing is printed.
    #[default]
    None,
    /// Instructions for the summariser, as plain text.
    Text(String),
    /// No compaction, for this reason.
    Block(String),
}

impl PreCompactReply {
    /// No opinion: nothing is printed.
    pub fn none() -> Self {
        Self::None
    }

    /// Instructions for the summariser. Several parts are joined by a blank line, as the client does for
    /// several hooks.
    pub fn text<T: Into<String>>(parts: impl IntoIterator<Item = T>) -> Self {
        let parts: Vec<String> = parts.into_iter().map(Into::into).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { Self::None } else { Self::Text(parts.join("\n\n")) }
    }

    /// Refuses compaction.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block(reason.into())
    }
}

impl HookReply for PreCompactReply {
    const SPEC: ReplySpec = ReplySpec {
        event: EventName::PreCompact,
        verbs: &[Verb::Block, Verb::AddContext],
        top: &[TopField::Decision],
        specific: &[],
    };

    fn into_body(self) -> ReplyBody {
        match self {
            Self::None => ReplyBody::PlainText(String::new()),
            Self::Text(text) => ReplyBody::PlainText(text),
            Self::Block(reason) => ReplyBody::Fields(ReplyFields::block(reason).into_map(EventName::PreCompact)),
        }
    }
}
