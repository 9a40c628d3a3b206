//! Where the session's views look at an event, and what follows from what they see.

use context_graph_events::Event;

use super::Session;
use crate::continuity::Asked;
use crate::gwt::consciousness::{consciousness, differentiation, reflection};
use crate::gwt::kuramoto::{advance, order_parameter};
use crate::gwt::numeric::narrow;

impl Session {
    /// Lets the views look at an event. A tool's result moves the measures for good; a prompt says what they are worth
    /// until the next one.
    pub(super) fn assess(&mut self, event: &Event, at_ms: i64) {
        let assessment = self.state.continuity.observe(event, at_ms);
        self.state.looping = assessment.looping;
        if assessment.scored {
            self.snapshot.update_ic_and_trajectory(assessment.purpose_vector, assessment.ic);
            self.measure();
            self.state.forecaster = self.state.forecaster.observe(assessment.ic);
            self.compare_with_previous();
        } else if let Some(Asked { purpose_vector, ic }) = assessment.asked {
            self.snapshot.align(purpose_vector, ic);
            self.measure();
        }
    }

    /// Moves every measure by the newest purpose vector.
    fn measure(&mut self) {
        let snapshot = &mut self.snapshot;
        let alignments = &snapshot.purpose_vector;
        snapshot.kuramoto_phases = advance(&snapshot.kuramoto_phases, alignments, snapshot.coupling);
        snapshot.integration = narrow(order_parameter(&snapshot.kuramoto_phases));
        snapshot.differentiation = differentiation(alignments);
        snapshot.reflection = reflection(self.state.forecaster.forecast(), snapshot.last_ic);
        snapshot.consciousness =
            consciousness(snapshot.integration, snapshot.reflection, snapshot.differentiation);
    }
}
