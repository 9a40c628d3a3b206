//! Converts what the store returns to the types of the pages.

use context_graph_core::audit::{Outcome, in_words};
use context_graph_storage::store::{self, FileCount};
use context_graph_web::{Axis, AxisCall, AxisEvent, AxisTurn, FileLine, Said};

/// A file for the page of files: its path relative to the project, with the project's name if there are several.
pub(super) fn file_line(file: FileCount, with_project: bool) -> FileLine {
    let below = file.path.strip_prefix(&file.project).and_then(|rest| rest.strip_prefix('/'));
    let path = match below.filter(|rest| !rest.is_empty() && !file.project.is_empty()) {
        Some(rest) if with_project => {
            let name = file.project.rsplit('/').next().unwrap_or("");
            format!("{name}/{rest}")
        }
        Some(rest) => rest.to_owned(),
        None => file.path.strip_prefix("./").map(str::to_owned).unwrap_or(file.path),
    };
    FileLine {
        path: path.into(),
        calls: file.calls,
        edits: file.edits,
        sessions: file.sessions,
        last_ms: file.last_ms,
    }
}

/// The time axis of a session.
pub(super) fn axis(axis: store::AxisRows) -> Axis {
    let calls = axis.calls.into_iter().map(|call| AxisCall {
        seq: call.seq,
        at_ms: call.at_ms,
        ended_ms: call.ended_ms,
        tool: call.tool.into(),
        agent: call.agent_id.map(|id| {
            let name = call.agent_kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| id.clone());
            (id, Said::from(name))
        }),
        outcome: Outcome::parse(&call.outcome).unwrap_or(Outcome::Unanswered),
        verdict: call.verdict,
        subject: call.subject.into(),
    });
    let events = axis.events.into_iter().map(|event| AxisEvent {
        seq: event.seq,
        at_ms: event.at_ms,
        verdict: event.verdict,
        subject: in_words(&event.event, &event.subject).into(),
        event: event.event.into(),
    });
    let turns = axis.turns.into_iter().map(|turn| AxisTurn {
        seq: turn.seq,
        at_ms: turn.at_ms,
        ended_ms: turn.ended_ms,
        prompt: turn.prompt.into(),
    });
    Axis { calls: calls.collect(), events: events.collect(), turns: turns.collect() }
}
