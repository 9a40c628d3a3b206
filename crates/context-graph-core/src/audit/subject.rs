//! What an event or a call was about, in one line.

use context_graph_events::Event;
use serde_json::Value;

use crate::session::{ActionFailure, EventsLost, changed_identity, dream_of, title_given, waiting_texts};

/// The longest line, in characters.
const MAX: usize = 160;

/// The input fields that say best what a call is about, best first.
const TELLING: [&str; 11] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "description",
    "subject",
    "path",
    "prompt",
    "skill",
];

/// What a call was about. A path below the session's folder is shown relative to it.
pub(super) fn of_call(input: &Value, cwd: &str) -> String {
    if input.is_null() {
        return String::new();
    }
    let Some(fields) = input.as_object() else { return first_line(&input.to_string()) };
    for name in TELLING {
        if let Some(text) = fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()) {
            let below = text.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
            return first_line(below.filter(|_| !cwd.is_empty()).unwrap_or(text));
        }
    }
    if fields.is_empty() { String::new() } else { first_line(&input.to_string()) }
}

/// What an event that is not a tool call was about.
pub(super) fn of_event(event: &Event) -> String {
    let text = |text: &Option<String>| first_line(text.as_deref().unwrap_or(""));
    match event {
        Event::SessionStart(p) => p.source.to_string(),
        Event::SessionEnd(p) => match p.duration_ms() {
            Some(ms) => format!("{} ({}) after {ms} ms", p.status(), p.reason),
            None => format!("{} ({})", p.status(), p.reason),
        },
        Event::Setup(p) => p.trigger.to_string(),
        Event::UserPromptSubmit(p) => first_line(&p.prompt),
        Event::UserPromptExpansion(p) => first_line(&format!("/{} {}", p.command_name, p.command_args)),
        Event::PermissionRequest(p) => {
            first_line(&format!("{} {}", p.tool_name, of_call(&p.tool_input, &p.common.cwd)))
        }
        Event::PostToolBatch(p) if p.tool_calls.len() == 1 => "1 call".to_owned(),
        Event::PostToolBatch(p) => format!("{} calls", p.tool_calls.len()),
        Event::Stop(p) => text(&p.last_assistant_message),
        Event::StopFailure(p) => p.error.to_string(),
        Event::SubagentStart(p) => p.agent_type.clone(),
        Event::SubagentStop(p) => text(&p.last_assistant_message),
        Event::PreCompact(p) => p.trigger.to_string(),
        Event::PostCompact(p) => first_line(&p.compact_summary),
        Event::PreModelSwitch(p) => format!("{} → {}", p.from_model, p.to_model),
        Event::PostModelSwitch(p) => format!("{} → {}", p.from_model, p.to_model),
        Event::TaskCreated(p) => first_line(&p.task_subject),
        Event::TaskCompleted(p) => first_line(&p.task_subject),
        Event::Notification(p) => first_line(&p.message),
        Event::Elicitation(p) => first_line(&format!("{}: {}", p.mcp_server_name, p.message)),
        Event::ElicitationResult(p) => format!("{}: {}", p.mcp_server_name, p.action),
        Event::ConfigChange(p) => p.source.to_string(),
        Event::InstructionsLoaded(p) => p.file_path.clone(),
        Event::CwdChanged(p) => p.new_cwd.clone(),
        Event::FileChanged(p) => format!("{} {}", p.event, p.file_path),
        Event::DirectoryAdded(p) => p.directory.clone(),
        Event::WorktreeCreate(p) => p.name.clone(),
        Event::WorktreeRemove(p) => p.worktree_path.clone(),
        Event::MessageDisplay(p) => first_line(&p.delta),
        other => own_event(other).unwrap_or_default(),
    }
}

/// A stored subject in words for people. How a session ended is stored as its status and the client's reason.
/// The reason `other` counts as an error, but Claude Code gives it at the end of every run without a terminal.
pub fn in_words<'a>(event: &str, subject: &'a str) -> &'a str {
    if event != "SessionEnd" {
        return subject;
    }
    match subject {
        "error (other)" => NO_REASON,
        "error (imported)" | "normal (imported)" => "imported",
        "user_abort (prompt_input_exit)" => "left by the user",
        "clear (clear)" => "by /clear",
        "logout (logout)" => "by logging out",
        "normal (exit)" => "normal",
        _ => subject,
    }
}

/// The text for a session that ended without a reason from its client.
const NO_REASON: &str = "no reason given";

/// What one of our own entries is about.
fn own_event(event: &Event) -> Option<String> {
    if let Some(failure) = ActionFailure::of(event) {
        return Some(first_line(&format!("{} on {}: {}", failure.name, failure.event, failure.how)));
    }
    let lost = EventsLost::of(event).map(|lost| first_line(&lost.to_string()));
    let changed = || changed_identity(event).map(|fields| fields.join(", "));
    let title = || title_given(event).map(|title| first_line(&title));
    let waits = || waiting_texts(event).map(|texts| first_line(&texts.join(" / ")));
    lost.or_else(changed).or_else(waits).or_else(title).or_else(|| dream_of(event).map(|dream| dream.words()))
}

/// The first line that is not empty, cut to size.
pub(super) fn first_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or("").trim_end();
    match line.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_told_by_its_most_telling_field() {
        let of = |input| of_call(&input, "/w");
        assert_eq!(of(json!({"description": "d", "command": "ls\nrm x"})), "ls…");
        assert_eq!(of(json!({"file_path": "/w/src/a.rs"})), "src/a.rs");
        assert_eq!(of(json!({"file_path": "/wide/a.rs"})), "/wide/a.rs");
        assert_eq!(of(json!({"x": 1})), "{\"x\":1}");
        assert_eq!((of(json!({})), of(json!(null))), (String::new(), String::new()));
        assert_eq!(of(json!({"command": "é".repeat(500)})).chars().count(), MAX + 1);
    }
}
