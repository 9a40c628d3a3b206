//! A session's work: the few facts that are worth keeping after its conversation is gone.
//!
//! They are collected as events arrive and are bounded, so a digest is cheap to make. All text from a tool, a
//! file or a person is sanitised when it is added.

mod commands;
mod files;
mod requests;
mod tasks;
mod uses;

use context_graph_events::safe_text::{name, tame};
use context_graph_events::{Event, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use commands::{CommandUsed, Commands};
pub use files::{EDITORS, FileTouched, Files, edits_files};
pub use requests::{Requests, StandingRequest};
pub use tasks::Tasks;
pub use uses::Uses;

use crate::continuity::{asked_before, is_asked_by_a_person};

/// Old transcripts report a call that the user rejected as a failure with this text. It says nothing about the command, so
/// the digest does not name the command as one that failed.
const REJECTED: &str = "The user doesn't want to proceed with this tool use";

const REFUSALS: usize = 4;
const MESSAGES: usize = 2;
const WHAT: usize = 120;

/// A call that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// The call, in short.
    pub call: String,
    /// Why.
    pub why: String,
    /// How often it was refused.
    pub times: u32,
}

/// What a session has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Work {
    /// The session's first folder.
    pub folder: String,
    /// How many calls were answered.
    pub calls: u32,
    /// What the user asked for.
    pub requests: Requests,
    /// The files it touched.
    pub files: Files,
    /// The commands it ran.
    pub commands: Commands,
    /// Its open tasks, from its own list.
    pub tasks: Tasks,
    /// Calls that were refused, oldest first.
    pub refused: Vec<RefusedCall>,
    /// Messages from processes of other sessions, oldest first.
    pub messages: Vec<String>,
}

impl Work {
    /// Adds an event.
    pub(super) fn observe(&mut self, event: &Event) {
        let cwd = event.common().map_or("", |common| common.cwd.as_str());
        if self.folder.is_empty() && !cwd.is_empty() {
            cwd.clone_into(&mut self.folder);
        }
        match event {
            Event::UserPromptSubmit(prompt) if prompt.is_of_other_process() => {
                push(&mut self.messages, tame(&prompt.prompt, WHAT), MESSAGES);
            }
            Event::UserPromptSubmit(prompt) => {
                let is_news = self.requests.first.is_empty();
                asked_before(prompt).filter(|_| is_news).for_each(|asked| self.requests.asked(asked));
                if is_asked_by_a_person(prompt) {
                    self.requests.asked(&prompt.prompt);
                }
            }
            Event::PostToolUse(done) => {
                let error = event.call_error().unwrap_or("no reason given");
                self.answered(&done.tool_name, &done.tool_input, done.outcome(), error, cwd);
            }
            Event::PostToolUseFailure(failed) => {
                self.answered(&failed.tool_name, &failed.tool_input, failed.outcome(), &failed.error, cwd);
            }
            Event::TaskCreated(task) => self.tasks.add(&task.task_id, &task.task_subject),
            Event::TaskCompleted(task) => self.tasks.done(&task.task_id, &task.task_subject),
            Event::PermissionDenied(denied) => {
                self.refused(&denied.tool_name, &denied.tool_input, &denied.reason);
            }
            _ => {}
        }
    }

    /// Adds a refused call.
    pub(super) fn refused(&mut self, tool: &str, input: &Value, why: &str) {
        let (call, why) = (call_of(tool, input), tame(why, WHAT));
        match self.refused.iter_mut().find(|refused| refused.call == call) {
            Some(refused) => {
                refused.times = refused.times.saturating_add(1);
                refused.why = why;
            }
            None => push(&mut self.refused, RefusedCall { call, why, times: 1 }, REFUSALS),
        }
    }

    fn answered(&mut self, tool: &str, input: &Value, outcome: Outcome, error: &str, cwd: &str) {
        self.calls = self.calls.saturating_add(1);
        if outcome == Outcome::Interrupted {
            return;
        }
        let folder = if cwd.is_empty() { self.folder.clone() } else { cwd.to_owned() };
        let is_change = edits_files(tool) && outcome == Outcome::Success;
        self.files.touched(input, &folder, is_change, self.calls);
        if let Some(line) = input.get("command").and_then(Value::as_str) {
            let is_failure = outcome == Outcome::Failure && !error.contains(REJECTED);
            let error = is_failure.then_some(error);
            self.commands.ran(line, error, self.calls);
        }
        self.tasks.listed(tool, input);
    }
}

/// A call in short.
fn call_of(tool: &str, input: &Value) -> String {
    const KEYS: [&str; 9] =
        ["command", "file_path", "notebook_path", "path", "url", "query", "pattern", "description", "prompt"];
    let tool = name(tool);
    match KEYS.iter().find_map(|key| input.get(key)?.as_str()).filter(|text| !text.is_empty()) {
        Some(what) => format!("{tool} `{}`", tame(what, WHAT)),
        None => tool,
    }
}

fn push<T>(list: &mut Vec<T>, item: T, max: usize) {
    if list.len() == max {
        list.remove(0);
    }
    list.push(item);
}
