//! Counters of a session.

use context_graph_events::{Event, Outcome};
use serde::{Deserialize, Serialize};

use super::recent::KnownCall;

/// Counts of a session's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// All events.
    pub events: u64,
    /// Prompts written by a person.
    pub prompts: u64,
    /// Prompts made by the client.
    pub machine_prompts: u64,
    /// Tool calls requested.
    pub calls_asked: u64,
    /// Tool calls that succeeded.
    pub calls_succeeded: u64,
    /// Tool calls that failed.
    pub calls_failed: u64,
    /// Tool calls that the user interrupted.
    pub calls_interrupted: u64,
    /// Tool calls that were denied, by us or by the client.
    pub calls_denied: u64,
    /// Subagents that began.
    pub subagents: u64,
    /// Times the conversation was compacted.
    pub compactions: u64,
    /// Turns that ended.
    pub turns: u64,
    /// Events that came after the end and reopened the session.
    pub reopenings: u64,
    /// Times continuity fell below the crisis threshold.
    pub crises: u64,
    /// How often the session dreamt.
    pub dreams: u64,
}

impl Counters {
    /// Tool calls, as far as a session can know: some senders report only results. The audit matches results to
    /// calls; it reads all records.
    pub fn calls(&self) -> u64 {
        self.calls_asked.max(self.calls_succeeded + self.calls_failed + self.calls_interrupted)
    }

    /// Counts an event. `known` is what was known before about the call that it reports; the latest report about a
    /// call wins.
    pub(super) fn count(&mut self, event: &Event, known: KnownCall) {
        self.events += 1;
        if let Some(outcome) = event.outcome().filter(|outcome| *outcome != Outcome::Denied) {
            if let Some(before) = known.outcome {
                let count = self.of(before);
                *count = count.saturating_sub(1);
            } else if known.is_denied {
                // It ran anyway.
                self.calls_denied = self.calls_denied.saturating_sub(1);
            }
            *self.of(outcome) += 1;
        }
        match event {
            Event::UserPromptSubmit(prompt) if prompt.is_machine_made() => self.machine_prompts += 1,
            Event::UserPromptSubmit(_) => self.prompts += 1,
            Event::PreToolUse(_) if !known.is_asked => self.calls_asked += 1,
            _ if event.outcome() == Some(Outcome::Denied) && !known.is_denied => {
                self.calls_denied += 1;
                self.calls_asked += u64::from(!known.is_asked);
            }
            Event::SubagentStart(_) => self.subagents += 1,
            Event::PostCompact(_) => self.compactions += 1,
            Event::Stop(stop) if stop.is_first_attempt() => self.turns += 1,
            _ => {}
        }
    }

    /// Counts a call whose outcome is first reported by its batch.
    pub(super) fn count_report(&mut self, was_asked: bool, outcome: Outcome) {
        self.calls_asked += u64::from(!was_asked);
        *self.of(outcome) += 1;
    }

    fn of(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Success => &mut self.calls_succeeded,
            Outcome::Failure => &mut self.calls_failed,
            Outcome::Interrupted => &mut self.calls_interrupted,
            _ => &mut self.calls_denied,
        }
    }
}
