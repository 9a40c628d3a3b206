//! Prompts that the agent itself has ordered for later. The client sends them as it sends the user's, so without this memory
//! they would come back as the user's words.

use std::collections::VecDeque;

use context_graph_events::Event;
use context_graph_events::claude_code::PromptSource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recent::hash;

/// How many are remembered.
const MOST: usize = 32;
/// How much of a prompt is compared: what is stored of a long one may be cut.
const COMPARED: usize = 256;
/// Words in the names of tools that order a prompt, and the fields that hold it.
const TOOLS: [&str; 4] = ["cron", "schedul", "wakeup", "remind"];
const FIELDS: [&str; 4] = ["prompt", "message", "instructions", "text"];

/// The prompts that were ordered, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scheduled(VecDeque<u32>);

impl Scheduled {
    /// Remembers what a call ordered.
    pub(super) fn note(&mut self, event: &Event) {
        let Event::PostToolUse(done) = event else { return };
        let name = done.tool_name.to_ascii_lowercase();
        if !TOOLS.iter().any(|word| name.contains(word)) {
            return;
        }
        for text in FIELDS.iter().filter_map(|field| done.tool_input.get(*field).and_then(Value::as_str)) {
            let key = key(text);
            if !text.trim().is_empty() && !self.0.contains(&key) {
                self.0.push_back(key);
            }
        }
        while self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// The event as one that no person made, if the agent had ordered this prompt.
    pub(super) fn recognised(&self, event: &Event) -> Option<Event> {
        match event {
            Event::UserPromptSubmit(prompt) if self.0.contains(&key(&prompt.prompt)) => {
                let mut prompt = prompt.clone();
                prompt.source = Some(PromptSource::ScheduleWakeup);
                Some(Event::UserPromptSubmit(prompt))
            }
            _ => None,
        }
    }
}

fn key(prompt: &str) -> u32 {
    let prompt = prompt.trim();
    hash(&prompt[..prompt.floor_char_boundary(COMPARED)])
}
