//! Runs the session's views on an event and updates the measures.

use context_graph_events::Event;

use super::{Alarm, Session};
use crate::continuity::{Asked, USUAL_ALIGNMENT, is_asked_by_a_person};
use crate::gwt::consciousness::{consciousness, differentiation};
use crate::gwt::kuramoto::{advance, order_parameter, sharpened};
use crate::gwt::numeric::{narrow, unit};

impl Session {
    /// Runs the views on an event. A tool's result changes the measures for good; a prompt changes them until
    /// the next result. Returns the alarm that is due.
    pub(super) fn assess(&mut self, event: &Event, at_ms: i64) -> Option<Alarm> {
        let is_prompt = matches!(event, Event::UserPromptSubmit(prompt) if is_asked_by_a_person(prompt));
        let assessment = self.state.continuity.observe(event, at_ms);
        self.state.looping = assessment.looping;
        if assessment.scored {
            self.snapshot.update_ic_and_trajectory(assessment.purpose_vector, assessment.ic);
            if let Some(kind) = assessment.kind {
                self.state.forecaster = self.state.forecaster.observe(kind);
            }
            self.measure(1.0);
            self.compare_with_previous();
            let is_looping = self.state.looping.is_some();
            return self.state.watch.observe(assessment.ic, is_looping);
        }
        if is_prompt {
            self.state.watch.asked();
        }
        if let Some(Asked { purpose_vector, ic }) = assessment.asked {
            // A prompt that turns away from the work was not predicted either.
            let kept = unit(ic / self.snapshot.last_ic.max(f32::MIN_POSITIVE));
            self.snapshot.align(purpose_vector, ic);
            self.measure(kept);
        }
        None
    }

    /// Updates every measure from the newest purpose vector. `kept` is the share of the forecast's skill that
    /// remains.
    fn measure(&mut self, kept: f32) {
        let snapshot = &mut self.snapshot;
        let alignments = &snapshot.purpose_vector;
        snapshot.kuramoto_phases =
            advance(&snapshot.kuramoto_phases, &sharpened(alignments, USUAL_ALIGNMENT), snapshot.coupling);
        snapshot.integration = narrow(order_parameter(&snapshot.kuramoto_phases));
        snapshot.differentiation = differentiation(alignments);
        snapshot.reflection = self.state.forecaster.skill() * kept;
        snapshot.consciousness =
            consciousness(snapshot.integration, snapshot.reflection, snapshot.differentiation);
    }
}
