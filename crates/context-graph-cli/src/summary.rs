//! A session in a few lines.

use context_graph_core::session::{Session, tame};

/// What a session came to, in a few lines.
pub(crate) fn of(session: &Session) -> String {
    let counters = &session.state.counters;
    let ic = session.classification();
    let mut lines = vec![
        format!(
            "{} prompts, {} tool calls ({} succeeded, {} failed, {} interrupted, {} denied), {} turns in {}",
            counters.prompts,
            counters.calls_asked,
            counters.calls_succeeded,
            counters.calls_failed,
            counters.calls_interrupted,
            counters.calls_denied,
            counters.turns,
            duration(session.duration_ms()),
        ),
        format!("continuity {:.2} ({}), {} crises", ic.value, ic.level, counters.crises),
    ];
    if counters.subagents + counters.compactions > 0 {
        lines.push(format!("{} subagents, {} compactions", counters.subagents, counters.compactions));
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
    use super::duration;

    #[test]
    fn durations_are_short() {
        let cases = [(5, "5 ms"), (1500, "1.5 s"), (61_000, "1 min 1 s"), (7_260_000, "2 h 1 min")];
        for (ms, text) in cases {
            assert_eq!(duration(ms), text);
        }
    }
}
