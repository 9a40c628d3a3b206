//! What a session has done, in the few words that are worth having back after its conversation is gone.
//!
//! Kept as it happens and bounded, so that a digest costs nothing to make. Everything that came from a tool or a file
//! is tamed on the way in.

use context_graph_events::claude_code::PostToolUsePayload;
use context_graph_events::words::{name, tame};
use context_graph_events::{CallOutcome, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::continuity::asked_before;

const FIRST_PROMPT: usize = 600;
const LATER_PROMPT: usize = 240;
const LATER_PROMPTS: usize = 3;
const FILES: usize = 40;
const FAILURES: usize = 12;
const ACTIONS: usize = 8;
const DECISIONS: usize = 8;
const WHAT: usize = 120;

/// A file the session has touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTouched {
    /// Where it is.
    pub path: String,
    /// How often it was read.
    pub reads: u32,
    /// How often it was changed.
    pub writes: u32,
    /// The event that touched it last, by its number.
    pub last: u64,
}

/// A call that failed and has not been seen to succeed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    /// The tool, as it is named in a sentence.
    pub tool: String,
    /// What it was to do.
    pub what: String,
    /// How it failed, in the tool's words.
    pub how: String,
    /// How often.
    pub times: u32,
}

/// What a session has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Work {
    /// The first thing the user asked for.
    pub purpose: String,
    /// The newest things the user asked for since, oldest first.
    pub asked_since: Vec<String>,
    /// Files, in the order they were first touched.
    pub files: Vec<FileTouched>,
    /// Calls that fail, oldest first.
    pub failing: Vec<Failing>,
    /// The last calls, oldest first, and how often each was made in a row.
    pub last_actions: Vec<(String, u32)>,
    /// What was decided, oldest first.
    pub decisions: Vec<String>,
}

impl Work {
    /// Takes an event in; `number` is its place in the session.
    pub(super) fn observe(&mut self, event: &Event, number: u64) {
        match event {
            Event::UserPromptSubmit(prompt) if prompt.is_foreign() => {
                self.decided("a process of another session said", &prompt.prompt);
            }
            Event::UserPromptSubmit(prompt) if !prompt.is_machine_made() => {
                let is_news = self.purpose.is_empty();
                asked_before(prompt).filter(|_| is_news).for_each(|asked| self.asked(asked));
                self.asked(&prompt.prompt);
            }
            Event::PostToolUse(done) => match done.outcome() {
                CallOutcome::Failure => {
                    let made = Made::of(&done.tool_name, &done.tool_input, done.get_file_path());
                    self.failed(made, event.call_error().unwrap_or("no reason given"), number);
                }
                CallOutcome::Success => self.succeeded(done, number),
                CallOutcome::Interrupted => {}
            },
            Event::PostToolUseFailure(failed) if !failed.was_interrupted() => {
                let made = Made::of(&failed.tool_name, &failed.tool_input, failed.get_file_path());
                self.failed(made, &failed.error, number);
            }
            Event::TaskCreated(task) => self.decided("task created", &task.task_subject),
            Event::TaskCompleted(task) => self.decided("task completed", &task.task_subject),
            Event::PermissionDenied(denied) => self.refused(&denied.tool_name, &denied.reason),
            _ => {}
        }
    }

    /// Remembers a decision: what was decided, and about what, in the words of whoever said it.
    fn decided(&mut self, what: &str, about: &str) {
        push(&mut self.decisions, format!("{what}: \"{}\"", tame(about, WHAT)), DECISIONS);
    }

    /// Remembers a call that was refused.
    pub(super) fn refused(&mut self, tool: &str, why: &str) {
        self.decided(&format!("{} was refused", name(tool)), why);
    }

    fn asked(&mut self, prompt: &str) {
        if self.purpose.is_empty() {
            self.purpose = tame(prompt, FIRST_PROMPT);
        } else {
            push(&mut self.asked_since, tame(prompt, LATER_PROMPT), LATER_PROMPTS);
        }
    }

    fn succeeded(&mut self, done: &PostToolUsePayload, number: u64) {
        let what = subject(&done.tool_name, &done.tool_input);
        let tool = name(&done.tool_name);
        self.failing.retain(|failing| failing.tool != tool || failing.what != what);
        self.touched(&done.tool_name, done.get_file_path(), number);
        if done.tool_name == "ExitPlanMode" {
            push(&mut self.decisions, "a plan was agreed on".to_owned(), DECISIONS);
        }
        self.acted(call(&tool, &what));
    }

    fn failed(&mut self, made: Made<'_>, error: &str, number: u64) {
        self.touched(made.tool, made.path, number);
        let (tool, what, how) = (name(made.tool), made.what, tame(error, WHAT));
        if let Some(known) = self.failing.iter_mut().find(|f| f.tool == tool && f.what == what) {
            known.times = known.times.saturating_add(1);
            known.how = how;
        } else {
            let failing = Failing { tool: tool.clone(), what: what.clone(), how, times: 1 };
            push(&mut self.failing, failing, FAILURES);
        }
        self.acted(format!("{} (failed)", call(&tool, &what)));
    }

    fn acted(&mut self, action: String) {
        match self.last_actions.last_mut() {
            Some((last, times)) if *last == action => *times = times.saturating_add(1),
            _ => push(&mut self.last_actions, (action, 1), ACTIONS),
        }
    }

    fn touched(&mut self, tool: &str, path: Option<String>, number: u64) {
        let Some(path) = path.filter(|path| !path.is_empty()).map(|path| tame(&path, WHAT * 2)) else {
            return;
        };
        let writes = matches!(tool, "Write" | "Edit" | "MultiEdit" | "NotebookEdit");
        let at = self.files.iter().position(|file| file.path == path).unwrap_or_else(|| {
            if self.files.len() == FILES {
                self.drop_least_telling_file();
            }
            self.files.push(FileTouched { path, reads: 0, writes: 0, last: number });
            self.files.len() - 1
        });
        let file = &mut self.files[at];
        file.last = number;
        let count = if writes { &mut file.writes } else { &mut file.reads };
        *count = count.saturating_add(1);
    }

    /// A file that was changed tells more than one that was read, and a late touch more than an early one.
    fn drop_least_telling_file(&mut self) {
        let least = self.files.iter().enumerate().min_by_key(|(_, file)| (file.writes > 0, file.last));
        if let Some((at, _)) = least {
            self.files.remove(at);
        }
    }
}

/// A call that was made.
struct Made<'a> {
    tool: &'a str,
    what: String,
    path: Option<String>,
}

impl<'a> Made<'a> {
    fn of(tool: &'a str, input: &Value, path: Option<String>) -> Self {
        Self { tool, what: subject(tool, input), path }
    }
}

/// What a call is about, in few words.
fn subject(tool: &str, input: &Value) -> String {
    const KEYS: [&str; 9] =
        ["command", "file_path", "notebook_path", "path", "url", "query", "pattern", "description", "prompt"];
    let text = KEYS.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or("");
    if text.is_empty() { name(tool) } else { tame(text, WHAT) }
}

/// A call in a few words; the tool's name and what it was about are tamed.
pub(super) fn call(tool: &str, what: &str) -> String {
    if what == tool { tool.to_owned() } else { format!("{tool} `{what}`") }
}

fn push<T>(list: &mut Vec<T>, item: T, max: usize) {
    if list.len() == max {
        list.remove(0);
    }
    list.push(item);
}
