//! The user's prompts that set the purpose.

use std::collections::VecDeque;

use context_graph_events::claude_code::UserPromptSubmitPayload;
use serde::{Deserialize, Serialize};

use super::call::one_line;

/// How many of the newest prompts are kept besides the first.
const NEWEST: usize = 3;
/// How many characters of a prompt are kept.
const LENGTH: usize = 400;

/// What the user asked for: the first prompt and the newest ones, each shortened to one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purpose {
    /// The first prompt; empty if there is none yet.
    pub first: String,
    /// The newest prompts after the first, oldest first.
    pub newest: VecDeque<String>,
}

impl Purpose {
    /// Whether this text is one of the kept prompts.
    pub(crate) fn has(&self, text: &str) -> bool {
        let words = one_line(text, LENGTH);
        self.first == words || self.newest.contains(&words)
    }

    /// Adds a prompt.
    pub(crate) fn ask(&mut self, prompt: &str) {
        let words = one_line(prompt, LENGTH);
        if words.is_empty() || self.newest.back().unwrap_or(&self.first) == &words {
            return;
        }
        if self.first.is_empty() {
            self.first = words;
            return;
        }
        self.newest.push_back(words);
        if self.newest.len() > NEWEST {
            self.newest.pop_front();
        }
    }
}

/// Whether a person wrote the prompt to ask for something. Notices that programs send as prompts do not count, and
/// neither do commands to the client without arguments.
pub(crate) fn is_asked_by_a_person(prompt: &UserPromptSubmitPayload) -> bool {
    let text = prompt.prompt.trim_start();
    !prompt.is_machine_made()
        && !prompt.is_of_other_process()
        && !text.is_empty()
        && !is_notice(text)
        && !is_bare_command(text)
}

/// The user's earlier prompts, oldest first, if the sender gave the conversation.
pub(crate) fn asked_before(prompt: &UserPromptSubmitPayload) -> impl Iterator<Item = &str> {
    let by_user = prompt.conversation().filter(|(role, _)| *role == "user").map(|(_, content)| content);
    by_user.filter(|content| *content != prompt.prompt && !is_notice(content.trim_start()))
}

/// `<task-notification>`, `<system_notification>`, `<local-command-stdout>`: a tag of several words at the start.
fn is_notice(text: &str) -> bool {
    let Some((tag, _)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else { return false };
    tag.len() <= 40
        && tag.contains(['-', '_'])
        && tag.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_'))
}

/// `/compact`, `/clear`: a command without arguments.
fn is_bare_command(text: &str) -> bool {
    text.starts_with('/') && !text.trim_end().contains(char::is_whitespace) && text.len() <= 40
}
