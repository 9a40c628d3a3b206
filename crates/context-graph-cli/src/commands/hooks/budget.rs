//! How long a hook may take.

use std::time::Duration;

use context_graph_events::envelope::HookEventType;
use context_graph_events::{Event, EventName};

/// The default budget of an event, in milliseconds.
pub(super) const DEFAULT_MS: u64 = 3000;

/// The budget of an event, in milliseconds.
pub(super) const fn of(event: EventName) -> u64 {
    match event {
        EventName::PreToolUse => 100,
        EventName::UserPromptSubmit => 2000,
        EventName::SessionStart => 5000,
        EventName::SessionEnd => 30_000,
        _ => DEFAULT_MS,
    }
}

/// The same for an event that may be unknown.
pub(super) fn of_event(event: &Event) -> u64 {
    event.known_name().map_or(DEFAULT_MS, of)
}

/// The same for the event of an envelope.
pub(super) const fn of_type(event: HookEventType) -> u64 {
    of(event.event_name())
}

/// When a hook must answer to be in time. The last tenth is left for writing the answer.
pub(super) fn answer_by(budget: Duration) -> Duration {
    budget * 9 / 10
}

#[cfg(test)]
mod tests {
    use context_graph_settings::{PlanOptions, default_plan};

    use super::of;

    #[test]
    fn the_client_waits_at_least_twice_as_long() {
        for hook in default_plan("context-graph", None, &PlanOptions::default()).hooks {
            assert!(hook.entry.timeout * 1000 >= 2 * of(hook.event), "{}", hook.event);
        }
    }
}
