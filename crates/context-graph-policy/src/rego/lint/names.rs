//! Names that policies use: events, tools and verbs, what they mean, and what a misspelt one may mean.

use context_graph_events::{EventName, Verb};

use super::super::header::Route;
use crate::effects::glob;

/// Tools of current clients. There may be more, and MCP servers have their own.
pub(crate) const TOOLS: [&str; 32] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "Read",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "Task",
    "TaskOutput",
    "TaskStop",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// Events that are about a tool.
pub(crate) const WITH_TOOL: [EventName; 5] = [
    EventName::PreToolUse,
    EventName::PostToolUse,
    EventName::PostToolUseFailure,
    EventName::PermissionRequest,
    EventName::PermissionDenied,
];

/// The verb of a decision set.
pub(super) fn verb_of(set: &str) -> Option<Verb> {
    Some(match set {
        "halt" => Verb::Halt,
        "deny" => Verb::Deny,
        "block" => Verb::Block,
        "ask" => Verb::Ask,
        "modify" => Verb::Modify,
        "allow_override" => Verb::Allow,
        "add_context" => Verb::AddContext,
        _ => return None,
    })
}

/// The events that a name or pattern means.
pub(super) fn events_named(name: &str) -> Vec<EventName> {
    let is_meant = |event: &EventName| {
        event.as_str() == name || (name.contains('*') && glob::matches(name, event.as_str()))
    };
    EventName::ALL.into_iter().filter(is_meant).collect()
}

/// The events of a route; all if it names none.
pub(super) fn events_of(route: &Route) -> Vec<EventName> {
    if route.events.is_empty() {
        return EventName::ALL.to_vec();
    }
    route.events.iter().flat_map(|name| events_named(name)).collect()
}

pub(super) fn listed(events: &[EventName]) -> String {
    events.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(", ")
}

/// What happens to a verb that these events cannot carry.
pub(super) fn instead(events: &[EventName], verb: Verb) -> String {
    match events {
        [event] => match crate::legality::nearest(*event, verb) {
            Some(other) => format!(": it becomes `{}`", other.as_str()),
            None => ": it is dropped".to_owned(),
        },
        _ => String::new(),
    }
}
