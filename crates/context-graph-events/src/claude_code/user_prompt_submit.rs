//! A prompt arrives, typed by the user or made by the client.

use serde_json::Value;

use crate::reply::{ReplyFields, Shape};

open_enum! {
    /// Who made the prompt. The client declares this field, but 2.1.325 does not send it.
    PromptSource {
        /// The user.
        User = "user",
        /// A program that drives the client.
        Sdk = "sdk",
        /// The client.
        System = "system",
        /// A loop that wakes up.
        LoopWakeup = "loop_wakeup",
        /// A schedule that wakes up.
        ScheduleWakeup = "schedule_wakeup",
        /// A poll that has news.
        PollEvent = "poll_event",
    }
}

/// Our own marker among a prompt's fields; the client sends no such field.
const FOREIGN: &str = "foreign";

payload! {
    /// A prompt is about to be worked on.
    UserPromptSubmitPayload of UserPromptSubmit answered by UserPromptSubmitReply {
        /// The prompt. Prompts made by machines arrive here too, such as `<task-notification>`.
        required prompt: String,
        /// Who made it.
        optional source: PromptSource,
        /// The session's title.
        optional session_title: String,
    }
}

impl UserPromptSubmitPayload {
    /// The prompt.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Whether the prompt contains this text.
    pub fn contains(&self, substring: &str) -> bool {
        self.prompt.contains(substring)
    }

    /// The first `n` characters.
    pub fn preview(&self, n: usize) -> &str {
        self.prompt.char_indices().nth(n).map_or(&self.prompt, |(end, _)| &self.prompt[..end])
    }

    /// The messages before the prompt, oldest first, as role and text, if the sender gave them. The client does
    /// not.
    pub fn conversation(&self) -> impl Iterator<Item = (&str, &str)> {
        let messages = self.extra.get("context").and_then(Value::as_array);
        messages.into_iter().flatten().filter_map(|message| {
            Some((message.get("role")?.as_str()?, message.get("content")?.as_str()?))
        })
    }

    /// Sets or clears the mark that the prompt came from a process that the client did not start for this
    /// session.
    pub fn mark_other_process(&mut self, is_of_other_process: bool) {
        if is_of_other_process {
            self.extra.insert(FOREIGN.to_owned(), true.into());
        } else {
            self.extra.remove(FOREIGN);
        }
    }

    /// Whether the prompt is known to come from a process other than this session's client.
    pub fn is_of_other_process(&self) -> bool {
        self.extra.get(FOREIGN).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether the client made this prompt, not a person: then it says nothing about what the user wants.
    pub fn is_machine_made(&self) -> bool {
        match &self.source {
            Some(PromptSource::User) => false,
            Some(PromptSource::Sdk) | None => is_notice(&self.prompt),
            Some(_) => true,
        }
    }
}

/// What the client sends as a prompt although the user did not type it: news about a task, another agent's
/// message, a command's output, the summary after a compaction.
pub fn is_notice(prompt: &str) -> bool {
    const TAGS: [&str; 9] = [
        "task-notification",
        "teammate-message",
        "agent-message",
        "system-reminder",
        "local-command-stdout",
        "local-command-stderr",
        "local-command-caveat",
        "bash-stdout",
        "bash-stderr",
    ];
    let text = prompt.trim_start();
    let tag = text.strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n']).next());
    tag.is_some_and(|tag| TAGS.contains(&tag))
        || text.starts_with("This session is being continued from a previous conversation")
}

reply! {
    /// The possible replies to a prompt. Every refusal drops it. After a bare `continue: false` the model would
    /// read it in the next turn.
    UserPromptSubmitReply to UserPromptSubmit {
        verbs: [Halt, Deny, Block, AddContext],
        top: [Continue, Decision, SystemMessage],
        specific: [
            ("additionalContext", Shape::Text),
            ("sessionTitle", Shape::Text),
            ("suppressOriginalPrompt", Shape::Flag)
        ],
        shared: [block, halt, context, message],
    }
}

impl UserPromptSubmitReply {
    /// Drops the prompt without repeating it to the user.
    pub fn block_and_hide(reason: impl Into<String>) -> Self {
        let mut fields = ReplyFields::block(reason);
        fields.set_specific("suppressOriginalPrompt", true);
        Self(fields)
    }

    /// Gives the session a title.
    #[must_use]
    pub fn with_session_title(mut self, title: impl Into<String>) -> Self {
        self.0.set_specific("sessionTitle", title.into());
        self
    }
}
