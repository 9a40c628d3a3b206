//! A session in a few lines.

use context_graph_core::session::Session;
pub(crate) use context_graph_events::words::counted;
use context_graph_events::words::{name, tame};

/// What a session came to, in a few lines.
pub(crate) fn of(session: &Session) -> String {
    let counters = &session.state.counters;
    let ic = session.classification();
    let mut lines = vec![
        format!(
            "{}, {} ({} succeeded, {} failed, {} interrupted, {} denied), {} in {}",
            counted(counters.prompts, "prompt", "prompts"),
            counted(counters.calls_asked, "tool call", "tool calls"),
            counters.calls_succeeded,
            counters.calls_failed,
            counters.calls_interrupted,
            counters.calls_denied,
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
        lines.push(format!(
            "continues {} (likeness {:.2})",
            tame(previous, 80),
            session.snapshot.cross_session_ic
        ));
    }
    lines.join("\n")
}

/// How long a session lasted. What its sender said is told with what was measured.
pub(crate) fn lasted(session: &Session) -> String {
    match session.stated_duration_ms() {
        Some(ms) => format!("{} ({} measured)", duration(ms), duration(session.measured_ms())),
        None => duration(session.measured_ms()),
    }
}

/// How a session ended, with the client's word for it; nothing while it goes on.
pub(crate) fn ended(session: &Session) -> Option<String> {
    let end = session.state.end?;
    Some(match session.state.end_reason.as_deref() {
        Some(reason) if !reason.is_empty() => format!("{} ({})", end.status, name(reason)),
        _ => end.status.to_string(),
    })
}

/// A span of time for people.
pub(crate) fn duration(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1000, ms / 60_000, ms / 3_600_000);
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", seconds, ms % 1000 / 100),
        60_000..3_600_000 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{hours} h {} min", minutes % 60),
    }
}

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
