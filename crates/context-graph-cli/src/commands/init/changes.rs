//! Summarises the changes to a settings file in a few lines; `--diff` shows every line.

use std::path::Path;

use context_graph_settings::{Change, Edited, FoundHook, find_ours_where};
use serde_json::Value;

use super::is_generated;
use crate::summary::counted;

/// How our hooks are found in a text.
pub(crate) type Finder<'a> = &'a dyn Fn(&str) -> Vec<FoundHook>;

/// For the settings of Claude Code.
pub(crate) fn in_settings(root: &Path) -> impl Fn(&str) -> Vec<FoundHook> {
    let generated = is_generated(root);
    move |text| find_ours_where(text, &generated).unwrap_or_default()
}

/// What changes, what stays, and how to see more.
pub(crate) fn lines(find: Finder<'_>, before: Option<&str>, edited: &Edited) -> Vec<String> {
    let [mut added, mut updated, mut removed] = [Vec::new(), Vec::new(), Vec::new()];
    let mut lines = Vec::new();
    for change in &edited.changes {
        match change {
            Change::HookAdded { event } => added.push(event.as_str()),
            Change::HookUpdated { event, .. } => updated.push(event.as_str()),
            Change::HookRemoved { event } => removed.push(event.as_str()),
            other => lines.push(other.to_string()),
        }
    }
    lines.extend([("add", added), ("update", updated), ("remove", removed)].into_iter().filter_map(
        |(verb, mut events)| {
            let hooks = counted(events.len(), "hook", "hooks");
            events.dedup();
            let of = counted(events.len(), "event", "events");
            (!events.is_empty()).then(|| format!("{verb} {hooks} for {of}"))
        },
    ));
    let [old, new] = [before, edited.text.as_deref()].map(|text| text.map(find).unwrap_or_default());
    lines.extend(moved(&old, &new));
    lines.extend(kept(old.len(), before.unwrap_or(""), edited.text.as_deref().unwrap_or("")));
    lines.extend(edited.notes.iter().map(|note| format!("note: {note}")));
    lines.iter().map(|line| format!("  {line}")).collect()
}

/// The program that the hooks name, if it changes, for example after an update moved it.
fn moved(before: &[FoundHook], after: &[FoundHook]) -> Option<String> {
    let (old, new) = (before.first()?.command.first()?, after.first()?.command.first()?);
    (old != new).then(|| format!("run {new} instead of {old}"))
}

/// What else is in the file and stays.
fn kept(ours: usize, before: &str, after: &str) -> Option<String> {
    let [old, new] =
        [before, after].map(|text| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok());
    let (old, new): (Value, Value) = (old?, new?);
    let all = old.get("hooks").map_or(0, entries);
    let hooks = all.saturating_sub(ours);
    let settings = old
        .as_object()?
        .iter()
        .filter(|(key, value)| !["hooks", "version"].contains(&key.as_str()) && new.get(key) == Some(value))
        .count();
    let parts = [(hooks, "other hook", "other hooks"), (settings, "other setting", "other settings")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|part| part.0 > 0)
        .map(|(count, one, more)| counted(count, one, more))
        .collect();
    (!parts.is_empty()).then(|| format!("leave alone: {}", parts.join(" and ")))
}

/// How many hooks there are under `hooks`, in groups or alone.
fn entries(hooks: &Value) -> usize {
    let groups = hooks.as_object().into_iter().flat_map(|events| events.values()).filter_map(Value::as_array);
    groups
        .flatten()
        .map(|group| group.get("hooks").map_or(1, |hooks| hooks.as_array().map_or(0, Vec::len)))
        .sum()
}
