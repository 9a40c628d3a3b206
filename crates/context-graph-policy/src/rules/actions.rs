//! The actions that an event starts, for hooks that decide nothing.

use context_graph_events::Event;

use super::{FileText, text};
use crate::PolicyConfig;
use crate::config::Action;

/// The actions that an event starts, looked up without the other rules. An unusable file starts nothing; hooks
/// that decide report it. A project's file that the user has not trusted starts nothing either.
pub fn actions_of(
    team: Option<&FileText>,
    user: &FileText,
    brings_user_file: impl Fn() -> bool,
    project: &FileText,
    in_force: impl FnOnce() -> bool,
    event: &Event,
) -> Vec<Action> {
    // Most files have no actions, and searching for a word is faster than parsing TOML.
    let parsed = |text: &FileText| match text {
        Ok(Some(text)) if text.contains("actions") => text::parse(text).unwrap_or_default(),
        _ => PolicyConfig::default(),
    };
    let mut configured = text::users(parsed(user), brings_user_file);
    let project = parsed(project);
    if !project.actions.is_empty() && in_force() {
        configured = PolicyConfig::merge(&configured, &project);
    }
    if let Some(team) = team {
        configured = PolicyConfig::merge(&parsed(team), &configured);
    }
    configured.actions.retain(|action| action.is_for(event));
    configured.actions
}
