//! Commands that an event starts and that nobody waits for.

use context_graph_events::Event;
use serde::{Deserialize, Serialize};

use crate::effects::glob;

/// A command that is started when an event happens. What it does changes nothing about the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// What to call it.
    pub name: String,
    /// The event.
    pub event: String,
    /// Only for these tools, sources, types, …: names with `|` between them, `*` for any run of characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// For the shell, in the project's root.
    pub command: String,
    /// How long it may take.
    #[serde(default = "default_action_ms")]
    pub timeout_ms: u64,
}

pub(super) const fn default_action_ms() -> u64 {
    10_000
}

impl Action {
    /// Whether it is started by this event.
    pub fn is_for(&self, event: &Event) -> bool {
        let Some(matcher) = &self.matcher else { return self.event == event.name() };
        let is_named = |name: &str| {
            alternatives(matcher)
                .any(|known| known == name || (known.contains('*') && glob::matches(known, name)))
        };
        self.event == event.name() && event.matched().is_some_and(is_named)
    }
}

/// What a matcher names.
pub(super) fn alternatives(matcher: &str) -> impl Iterator<Item = &str> {
    matcher.split('|').map(str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(name: &str, more: Value) -> Event {
        let mut map =
            json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/p"})
                .as_object()
                .cloned()
                .unwrap();
        map.extend(more.as_object().cloned().unwrap());
        Event::from_object(map).unwrap()
    }

    fn action(event: &str, matcher: Option<&str>) -> Action {
        let (name, command) = ("a".to_owned(), "true".to_owned());
        Action { name, event: event.to_owned(), matcher: matcher.map(str::to_owned), command, timeout_ms: 1 }
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
