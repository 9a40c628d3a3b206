//! The actions that an event starts, for hooks that decide nothing.

use context_graph_events::Event;
use context_graph_policy::PolicyConfig;
use context_graph_policy::config::Action;

use super::file::{parse_policy, read_users, users};
use super::{Guard, user_file};
use crate::Environment;
use crate::trust::ProjectFiles;

impl Guard {
    /// The actions that an event starts, looked up without the rest of the rules. A file that cannot be used starts nothing;
    /// whoever is held or asked because of it says why. Nor does a project's that the user has not trusted.
    pub(crate) fn actions_of(
        environment: &Environment,
        files: &ProjectFiles<'_>,
        event: &Event,
    ) -> Vec<Action> {
        // Most files have none, and reading TOML takes longer than looking for a word.
        let parsed = |text: &str| {
            let has_some = text.contains("actions");
            if has_some { parse_policy(text).unwrap_or_default() } else { PolicyConfig::default() }
        };
        let own_file = user_file(environment);
        let own = parsed(&read_users(&own_file).ok().flatten().unwrap_or_default());
        let mut configured = users(own, &own_file, files);
        let project = files.policy().as_ref().ok().and_then(Option::as_deref).map(parsed).unwrap_or_default();
        if !project.actions.is_empty() && files.standing().is_in_force() {
            configured = PolicyConfig::merge(&configured, &project);
        }
        configured.actions.retain(|action| action.is_for(event));
        configured.actions
    }
}
