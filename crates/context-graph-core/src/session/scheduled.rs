//! Prompts that the agent itself has scheduled. The client sends them like the user's, so without this memory they
//! would count as the user's words.

use std::collections::VecDeque;

use context_graph_events::Event;
use context_graph_events::claude_code::PromptSource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recent::hash;

/// How many are remembered.
const MOST: usize = 32;
/// How many bytes of a prompt are compared: a long one may be stored shortened.
const COMPARED: usize = 256;
/// Words in the names of tools that schedule a prompt, and the fields that contain it.
const TOOLS: [&str; 4] = ["cron", "schedul", "wakeup", "remind"];
const FIELDS: [&str; 4] = ["prompt", "message", "instructions", "text"];

/// The prompts that were scheduled, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scheduled(VecDeque<u32>);

impl Scheduled {
    /// Remembers what a call scheduled.
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

    /// The event marked as not made by a person, if the agent had scheduled this prompt.
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
