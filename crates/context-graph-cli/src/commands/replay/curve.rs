//! Draws a session's continuity as a curve on the terminal, and says where it fell and why.

use std::fmt::Write as _;

use context_graph_core::session::{Curve, NoteKind, Session};
use context_graph_events::safe_text::tame;

use crate::summary::{self, Calls};
use crate::time;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WIDTH: usize = 80;

pub(super) fn tell(curve: &Curve, session: &Session) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ =
        writeln!(text, "session {}  {}", session.snapshot.session_id, time::local(session.state.started_ms));
    for line in [session.title(), tame(&session.state.cwd, 200)].iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "  {line}");
    }
    for line in summary::of(session, Calls::as_counted(&session.state.counters)).lines() {
        let _ = writeln!(text, "  {line}");
    }
    if !curve.points.is_empty() {
        let _ = writeln!(text, "  {}", bars(curve));
    }
    for note in curve.notes.iter().filter(|note| !matches!(note.kind, NoteKind::Injected | NoteKind::Dream)) {
        let _ = writeln!(text, "  call {:>4}  {}", note.call, note.text);
    }
    text.push('\n');
    text
}

/// One character per call, or the lowest of several if there are more calls than columns.
fn bars(curve: &Curve) -> String {
    let per_column = curve.points.len().div_ceil(WIDTH).max(1);
    curve
        .points
        .chunks(per_column)
        .map(|chunk| {
            let lowest = chunk.iter().map(|point| point.ic).fold(1.0_f32, f32::min);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a continuity lies between 0 and 1"
            )]
            let at = (lowest * 7.99) as usize;
            BARS[at.min(7)]
        })
        .collect()
}
