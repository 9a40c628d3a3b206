//! A session's continuity as a curve in the terminal, with the places where it fell and why.

use std::fmt::Write as _;

use context_graph_core::gwt::ic_monitor::ICLevel;
use context_graph_core::session::{DreamCause, Session, StepReport};
use context_graph_events::Event;
use context_graph_events::words::tame;

use crate::summary::{self, Calls};

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WIDTH: usize = 80;

/// Something worth telling.
struct Fall {
    call: usize,
    text: String,
}

/// The continuity at each tool result.
#[derive(Default)]
pub(super) struct Curve {
    points: Vec<f32>,
    falls: Vec<Fall>,
    low: bool,
    was_looping: bool,
}

impl Curve {
    pub(super) fn observe(&mut self, session: &Session, event: &Event, report: &StepReport) {
        if matches!(event, Event::PostToolUse(_) | Event::PostToolUseFailure(_)) {
            self.points.push(report.ic.value);
        }
        let call = self.points.len();
        let low = matches!(report.ic.level, ICLevel::Warning | ICLevel::Critical);
        if low && !self.low {
            let pulls = session.state.continuity.explain();
            let new: Vec<String> =
                pulls.iter().flat_map(|pull| &pull.evidence).take(5).map(|text| tame(text, 60)).collect();
            let views: Vec<&str> = pulls.iter().take(3).map(|pull| pull.view).collect();
            let text = format!(
                "continuity fell to {:.2} ({}): {}; new: {}",
                report.ic.value,
                report.ic.level,
                views.join(", "),
                if new.is_empty() { "nothing to name".to_owned() } else { new.join(", ") }
            );
            self.falls.push(Fall { call, text });
        }
        self.low = low;
        let looping = session.state.looping.is_some();
        if looping
            && !self.was_looping
            && let Some(found) = &session.state.looping
        {
            let text = format!("loop: {} ({} times)", tame(&found.what, 90), found.times);
            self.falls.push(Fall { call, text });
        }
        self.was_looping = looping;
        if let Some(dream) = report.dream.filter(|dream| dream.cause != DreamCause::End) {
            let text = format!("dream: kept {} vectors, dropped {}", dream.kept, dream.dropped);
            self.falls.push(Fall { call, text });
        }
    }

    /// The session's story.
    pub(super) fn tell(&self, session: &Session) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "session {}", session.snapshot.session_id);
        for line in summary::of(session, Calls::as_counted(&session.state.counters)).lines() {
            let _ = writeln!(text, "  {line}");
        }
        if !self.points.is_empty() {
            let _ = writeln!(text, "  {}", self.bars());
        }
        for fall in &self.falls {
            let _ = writeln!(text, "  call {:>4}  {}", fall.call, fall.text);
        }
        text.push('\n');
        text
    }

    /// One character a call, or the lowest of several where there are more calls than columns.
    fn bars(&self) -> String {
        let per_column = self.points.len().div_ceil(WIDTH).max(1);
        self.points
            .chunks(per_column)
            .map(|chunk| {
                let lowest = chunk.iter().copied().fold(1.0_f32, f32::min);
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
}
