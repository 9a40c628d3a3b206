//! Where the session's views look at an event, and what follows from what they see.

use context_graph_events::Event;

use super::Session;
use crate::continuity::Asked;
use crate::gwt::consciousness::{consciousness, differentiation, reflection};
use crate::gwt::kuramoto::{advance, order_parameter};
use crate::gwt::numeric::narrow;
use crate::gwt::session_identity::KURAMOTO_N;

impl Session {
    /// Lets the views look at an event. A tool's result moves the measures for good; a prompt says what they are worth
    /// until the next one.
    pub(super) fn assess(&mut self, event: &Event, at_ms: i64) {
        let assessment = self.state.continuity.observe(event, at_ms);
        self.state.looping = assessment.looping;
        if assessment.scored {
            self.snapshot.append_to_trajectory(assessment.purpose_vector);
            self.observe(assessment.purpose_vector, assessment.ic);
            self.state.forecaster = self.state.forecaster.observe(assessment.ic);
            self.compare_with_previous();
        } else if let Some(Asked { purpose_vector, ic }) = assessment.asked {
            self.observe(purpose_vector, ic);
        }
    }

    /// Moves every measure by one purpose vector.
    fn observe(&mut self, alignments: [f32; KURAMOTO_N], ic: f32) {
        let snapshot = &mut self.snapshot;
        snapshot.purpose_vector = alignments;
        snapshot.kuramoto_phases = advance(&snapshot.kuramoto_phases, &alignments, snapshot.coupling);
        snapshot.last_ic = ic;
        snapshot.integration = narrow(order_parameter(&snapshot.kuramoto_phases));
        snapshot.differentiation = differentiation(&alignments);
        snapshot.reflection = reflection(self.state.forecaster.forecast(), ic);
        snapshot.consciousness =
            consciousness(snapshot.integration, snapshot.reflection, snapshot.differentiation);
    }
}
