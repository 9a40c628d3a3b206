//! One event of a session, as a line.

use context_graph_core::audit::{REPETITIONS, in_words};
use context_graph_core::session::{EventRecord, EventsLost, dream_of, waiting_texts};
use context_graph_events::{Event, Outcome};
use serde_json::{Value, json};

use crate::summary::{counted, duration};
use crate::time;

/// How much of a text is shown on a line.
const SHOWN: usize = 100;

pub(super) struct Line {
    seq: u64,
    at_ms: i64,
    event: String,
    subject: String,
    tool_use_id: Option<String>,
    agent_id: Option<String>,
}

/// Describes an event.
pub(super) fn line(seq: u64, record: &EventRecord) -> Line {
    let event = record.event().ok();
    Line {
        seq,
        at_ms: record.at_ms,
        event: event.as_ref().map_or("unreadable", Event::name).to_owned(),
        subject: event.as_ref().map(|event| ruled(subject(event), record)).unwrap_or_default(),
        tool_use_id: record.tool_use_id.clone(),
        agent_id: event.as_ref().and_then(Event::agent_id).map(str::to_owned),
    }
}

impl Line {
    pub(super) fn to_json(&self) -> Value {
        let mut object =
            json!({"seq": self.seq, "at_ms": self.at_ms, "event": self.event, "subject": self.subject});
        for (key, value) in [("tool_use_id", &self.tool_use_id), ("agent_id", &self.agent_id)] {
            if let Some(value) = value {
                object[key] = json!(value);
            }
        }
        object
    }

    /// Whether it only repeats what other lines say.
    pub(super) fn is_repetition(&self) -> bool {
        REPETITIONS.contains(&self.event.as_str())
    }

    pub(super) fn to_text(&self) -> String {
        let agent = if self.agent_id.is_some() { "  ↳ " } else { "" };
        format!(
            "{:>5}  {}  {agent}{:<20} {}",
            self.seq,
            time::local_clock(self.at_ms),
            self.event,
            self.subject
        )
    }
}

fn subject(event: &Event) -> String {
    match event {
        Event::SessionStart(p) => p.source.to_string(),
        Event::SessionEnd(p) => match p.duration_ms() {
            Some(ms) => format!("{} ({}) after {}", p.status(), p.reason, duration(ms)),
            None => in_words("SessionEnd", &format!("{} ({})", p.status(), p.reason)).to_owned(),
        },
        Event::UserPromptSubmit(p) => short(&p.prompt),
        Event::PreToolUse(p) => call(&p.tool_name, p.get_command(), p.get_file_path()),
        Event::PermissionRequest(p) => call(&p.tool_name, p.get_command(), p.get_file_path()),
        Event::PostToolUse(p) if p.outcome() == Outcome::Failure => {
            let why = event.call_error().unwrap_or("no reason given");
            format!("{} failed: {}", call(&p.tool_name, p.get_command(), p.get_file_path()), short(why))
        }
        Event::PostToolUse(p) if p.outcome() == Outcome::Interrupted => {
            format!("{} interrupted", call(&p.tool_name, p.get_command(), p.get_file_path()))
        }
        Event::PostToolUse(p) => {
            let took = p.duration_ms.as_ref().map(|ms| format!(" in {ms} ms")).unwrap_or_default();
            format!("{}{took}", call(&p.tool_name, p.get_command(), p.get_file_path()))
        }
        Event::PostToolUseFailure(p) => {
            let call = call(&p.tool_name, p.get_command(), p.get_file_path());
            match p.outcome() {
                Outcome::Interrupted => format!("{call} interrupted"),
                _ => format!("{call} failed: {}", short(&p.error)),
            }
        }
        Event::PermissionDenied(p) => format!("{} denied: {}", p.tool_name, short(&p.reason)),
        Event::PostToolBatch(p) => counted(p.tool_calls.len(), "call", "calls"),
        Event::Stop(p) => short(p.last_assistant_message.as_deref().unwrap_or("")),
        Event::SubagentStart(p) => p.agent_type.clone(),
        Event::SubagentStop(p) => short(p.last_assistant_message.as_deref().unwrap_or("")),
        Event::PreCompact(p) => p.trigger.to_string(),
        Event::PostCompact(p) => short(&p.compact_summary),
        Event::CwdChanged(p) => p.new_cwd.clone(),
        Event::Notification(p) => short(&p.message),
        other => match EventsLost::of(other) {
            Some(lost) => lost.to_string(),
            None => match waiting_texts(other) {
                Some(texts) => short(&texts.join(" / ")),
                None => dream_of(other).map(|dream| dream.words()).unwrap_or_default(),
            },
        },
    }
}

/// Adds what was decided about it.
fn ruled(subject: String, record: &EventRecord) -> String {
    match record.ruling.as_ref().filter(|ruling| ruling.refuses() || ruling.verdict == "ask") {
        Some(ruling) => format!("{subject} [{}: {}]", ruling.verdict, ruling.rules.join(", ")),
        None => subject,
    }
}

fn call(tool: &str, command: Option<String>, path: Option<String>) -> String {
    match command.or(path) {
        Some(what) => format!("{tool} {}", short(&what)),
        None => tool.to_owned(),
    }
}

fn short(text: &str) -> String {
    let first = text.trim().lines().next().unwrap_or("");
    let cut: String = first.chars().take(SHOWN).collect();
    if cut.len() < text.trim().len() { format!("{cut}…") } else { cut }
}
