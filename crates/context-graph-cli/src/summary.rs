//! A session in a few lines.

use context_graph_core::audit::{Outcome, in_words};
use context_graph_core::session::{Counters, Session};
use context_graph_events::agents::Agent;
pub(crate) use context_graph_events::safe_text::counted;
use context_graph_events::safe_text::{grouped, name, tame};
use context_graph_storage::sessions::IMPORTED;
use context_graph_storage::store::Counts;

/// The results of a session's calls. Each call is counted once, by its id or as the audit matches it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) all: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) interrupted: u64,
    pub(crate) denied: u64,
    /// No answer on record, or deferred.
    pub(crate) open: u64,
}

impl Calls {
    /// From the audit records.
    pub(crate) fn on_record(counts: Counts) -> Self {
        let of = |outcome| counts.of(outcome);
        Self {
            all: counts.calls,
            succeeded: of(Outcome::Success),
            failed: of(Outcome::Failure),
            interrupted: of(Outcome::Interrupted),
            denied: of(Outcome::Denied),
            open: of(Outcome::Unanswered) + of(Outcome::Deferred),
        }
    }

    /// From the session's own counters, if there are no records. They count results, not calls.
    pub(crate) fn as_counted(counters: &Counters) -> Self {
        let (all, denied) = (counters.calls(), counters.calls_denied);
        let (succeeded, failed, interrupted) =
            (counters.calls_succeeded, counters.calls_failed, counters.calls_interrupted);
        let open = all.saturating_sub(succeeded + failed + interrupted + denied);
        Self { all, succeeded, failed, interrupted, denied, open }
    }
}

/// A summary of the session.
pub(crate) fn of(session: &Session, calls: Calls) -> String {
    let counters = &session.state.counters;
    let open = if calls.open > 0 { format!(", {} without an answer", calls.open) } else { String::new() };
    let ic = session.classification();
    let mut lines = vec![
        format!(
            "{}, {} ({} succeeded, {} failed, {} interrupted, {} denied{open}), {} in {}",
            counted(counters.prompts, "prompt", "prompts"),
            counted(calls.all, "tool call", "tool calls"),
            calls.succeeded,
            calls.failed,
            calls.interrupted,
            calls.denied,
            counted(counters.turns, "turn", "turns"),
            lasted(session),
        ),
        format!(
            "continuity {:.2} ({}), {}",
            ic.value,
            ic.level,
            counted(counters.crises, "crisis", "crises")
        ),
    ];
    if let Some(ended) = ended(session) {
        lines.push(format!("ended: {ended}"));
    }
    if counters.subagents + counters.compactions > 0 {
        lines.push(format!(
            "{}, {}",
            counted(counters.subagents, "subagent", "subagents"),
            counted(counters.compactions, "compaction", "compactions")
        ));
    }
    if let Some(previous) = &session.snapshot.previous_session_id {
        lines.push(format!("continues {}", tame(previous, 80)));
    }
    lines.join("\n")
}

/// How similar a session is to the one it continues, in words.
pub(crate) fn likeness(likeness: f32) -> String {
    format!("likeness to it {likeness:.2}, by words and files that other sessions lack")
}

/// How long a session lasted: the duration that the sender claimed, and the one that we measured.
pub(crate) fn lasted(session: &Session) -> String {
    match session.stated_duration_ms() {
        Some(ms) => format!("{} ({} measured)", duration(ms), duration(session.measured_ms())),
        None => duration(session.measured_ms()),
    }
}

/// How a session ended, with the client's reason; `None` if it goes on.
pub(crate) fn ended(session: &Session) -> Option<String> {
    let end = session.state.end?;
    Some(match session.state.end_reason.as_deref() {
        Some(reason) if !reason.is_empty() => {
            let ended = format!("{} ({})", end.status, name(reason));
            let is_told = !end.stated || reason == IMPORTED;
            if is_told { in_words("SessionEnd", &ended).to_owned() } else { ended }
        }
        _ => end.status.to_string(),
    })
}

/// A number with separated thousands.
pub(crate) fn thousands(number: u64) -> String {
    grouped(number, ',')
}

/// The first part of a session's id, enough to type. Ids from other agents begin with the agent's name.
pub(crate) fn short_id(id: &str) -> String {
    let name = match Agent::of_session(id) {
        Agent::ClaudeCode => 0,
        agent => agent.name().len() + 1,
    };
    id.chars().take(name + 8).collect()
}

pub(crate) use context_graph_core::audit::duration;

#[cfg(test)]
mod tests {
    use super::{counted, duration};

    #[test]
    fn one_thing_is_no_plural() {
        let told = [0_u64, 1, 2].map(|number| counted(number, "crisis", "crises"));
        assert_eq!(told, ["0 crises", "1 crisis", "2 crises"]);
    }

    #[test]
    fn durations_are_short() {
        let cases = [(5, "5 ms"), (1500, "1.5 s"), (61_000, "1 min 1 s"), (7_260_000, "2 h 1 min")];
        for (ms, text) in cases {
            assert_eq!(duration(ms), text);
        }
    }
}
