//! Commands that an event starts without waiting for them.

use context_graph_events::Event;
use serde::{Deserialize, Deserializer, Serialize};

use crate::effects::glob;

/// A command that an event starts. It has no influence on the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    /// Its name: from the file, otherwise the event and a number.
    pub name: String,
    /// Whether the file gives it that name.
    #[serde(skip)]
    pub is_named: bool,
    /// The event.
    pub event: String,
    /// Only for these tools, sources, types, …: names separated by `|`, with `*` for any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// The shell command, run in the project's root.
    pub command: String,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// An action as written in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    name: Option<String>,
    event: String,
    matcher: Option<String>,
    command: String,
    #[serde(default = "default_action_ms")]
    timeout_ms: u64,
}

/// Reads a file's actions and names those without a name.
pub(super) fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Action>, D::Error> {
    let written = Vec::<Written>::deserialize(deserializer)?;
    let mut actions: Vec<Action> = Vec::with_capacity(written.len());
    for Written { name, event, matcher, command, timeout_ms } in written {
        let is_named = name.is_some();
        let name = name.unwrap_or_default();
        add(&mut actions, Action { name, is_named, event, matcher, command, timeout_ms });
    }
    Ok(actions)
}

/// Adds an action. Without a name it gets its event's name and the first free number.
pub(super) fn add(actions: &mut Vec<Action>, mut action: Action) {
    if !action.is_named {
        let names = (1..).map(|number: usize| format!("{} ({number})", action.event));
        let is_free = |name: &String| actions.iter().all(|known| known.name != *name);
        action.name = names.into_iter().find(is_free).unwrap_or_default();
    }
    actions.push(action);
}

pub(super) const fn default_action_ms() -> u64 {
    10_000
}

impl Action {
    /// Whether this event starts it.
    pub fn is_for(&self, event: &Event) -> bool {
        let Some(matcher) = &self.matcher else { return self.event == event.name() };
        let is_named = |name: &str| {
            alternatives(matcher)
                .any(|known| known == name || (known.contains('*') && glob::matches(known, name)))
        };
        self.event == event.name() && event.matcher_value().is_some_and(is_named)
    }
}

/// The alternatives of a matcher.
pub(super) fn alternatives(matcher: &str) -> impl Iterator<Item = &str> {
    matcher.split('|').map(str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::event;

    fn action(event: &str, matcher: Option<&str>) -> Action {
        let (name, command) = ("a".to_owned(), "true".to_owned());
        let (event, matcher) = (event.to_owned(), matcher.map(str::to_owned));
        Action { name, is_named: true, event, matcher, command, timeout_ms: 1 }
    }

    #[test]
    fn an_action_is_for_its_event_and_what_its_matcher_names() {
        let edit = event(
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_input": {}, "tool_use_id": "t", "tool_response": {}}),
        );
        assert!(action("PostToolUse", None).is_for(&edit) && !action("PreToolUse", None).is_for(&edit));
        for (matcher, fits) in
            [("Edit", true), ("Write | Edit", true), ("E*", true), ("Ed", false), ("edit", false)]
        {
            assert_eq!(action("PostToolUse", Some(matcher)).is_for(&edit), fits, "{matcher}");
        }
        let note = event("Notification", json!({"message": "m", "notification_type": "idle_prompt"}));
        assert!(action("Notification", Some("idle_prompt")).is_for(&note));
        let untyped = event("Notification", json!({"message": "m"}));
        assert!(action("Notification", None).is_for(&untyped));
        assert!(!action("Notification", Some("*")).is_for(&untyped));
        assert!(
            action("SessionStart", Some("re*")).is_for(&event("SessionStart", json!({"source": "resume"})))
        );
    }
}
