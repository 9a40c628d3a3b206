//! The files and folders that a call or an event names.

use context_graph_events::Event;
use serde_json::Value;

use crate::continuity::paths::named;

/// How many paths of one call are kept.
const MAX_PATHS: usize = 8;

/// The fields that hold a path, in all of the client's tools and in most others.
const PATH_FIELDS: [&str; 6] = ["file_path", "notebook_path", "path", "filePath", "filename", "directory"];

/// The paths in a tool's input: in the path fields, and in a command.
pub(super) fn of_input(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for field in PATH_FIELDS {
        if let Some(path) = input.get(field).and_then(Value::as_str) {
            push(&mut found, path);
        }
    }
    if let Some(command) = input.get("command").and_then(Value::as_str) {
        for path in named(command) {
            push(&mut found, path);
        }
    }
    found
}

/// The paths in an event that is not a tool call.
pub(super) fn of_event(event: &Event) -> Vec<String> {
    let path = match event {
        Event::ConfigChange(p) => p.file_path.as_deref(),
        Event::InstructionsLoaded(p) => Some(p.file_path.as_str()),
        Event::FileChanged(p) => Some(p.file_path.as_str()),
        Event::CwdChanged(p) => Some(p.new_cwd.as_str()),
        Event::DirectoryAdded(p) => Some(p.directory.as_str()),
        Event::WorktreeRemove(p) => Some(p.worktree_path.as_str()),
        _ => None,
    };
    let mut found = Vec::new();
    if let Some(path) = path {
        push(&mut found, path);
    }
    found
}

fn push(found: &mut Vec<String>, path: &str) {
    if !path.is_empty() && found.len() < MAX_PATHS && !found.iter().any(|known| known == path) {
        found.push(path.to_owned());
    }
}
