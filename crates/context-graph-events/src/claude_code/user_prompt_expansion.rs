//! A slash command becomes a prompt.

use crate::reply::{ReplyFields, Shape};

open_enum! {
    /// What kind of command was typed.
    ExpansionType {
        /// A command or skill.
        SlashCommand = "slash_command",
        /// A prompt of an MCP server.
        McpPrompt = "mcp_prompt",
    }
}

payload! {
    /// A slash command that the user typed becomes a prompt. Fires after `UserPromptSubmit`.
    UserPromptExpansionPayload of UserPromptExpansion answered by UserPromptExpansionReply {
        /// What kind of command.
        required expansion_type: ExpansionType,
        /// The command, without the slash.
        required command_name: String,
        /// Its arguments.
        required command_args: String,
        /// Where the command is defined.
        optional command_source: String,
        /// What was typed.
        required prompt: String,
    }
}

impl UserPromptExpansionPayload {
    /// Whether it is this command.
    pub fn is_command(&self, name: &str) -> bool {
        self.command_name == name
    }
}

reply! {
    /// The possible replies to an expansion.
    UserPromptExpansionReply to UserPromptExpansion {
        verbs: [Block, AddContext],
        top: [Decision, SystemMessage],
        specific: [("additionalContext", Shape::Text), ("suppressOriginalPrompt", Shape::Flag)],
        shared: [block, context, message],
    }
}

impl UserPromptExpansionReply {
    /// Drops the prompt without repeating it to the user.
    pub fn block_and_hide(reason: impl Into<String>) -> Self {
        let mut fields = ReplyFields::block(reason);
        fields.set_specific("suppressOriginalPrompt", true);
        Self(fields)
    }
}
