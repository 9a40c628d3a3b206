//! All measures together, as an event moves them: steady work, drift, recovery.

use context_graph_core::gwt::consciousness::{
    ConsciousnessState, consciousness, differentiation, reflection,
};
use context_graph_core::gwt::forecast::Forecaster;
use context_graph_core::gwt::ic_monitor::{ICClassification, ICLevel, ICMonitor};
use context_graph_core::gwt::johari::JohariQuadrant;
use context_graph_core::gwt::kuramoto::{advance, order_parameter};
use context_graph_core::gwt::numeric::narrow;
use context_graph_core::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};
use proptest::array::uniform13;
use proptest::prelude::*;

use crate::testing::any_vector;

/// A session and the state beside it.
struct Session {
    snapshot: SessionIdentitySnapshot,
    forecaster: Forecaster,
}

impl Session {
    fn new() -> Self {
        Self { snapshot: SessionIdentitySnapshot::new("s"), forecaster: Forecaster::default() }
    }

    fn observe(&mut self, alignments: [f32; KURAMOTO_N]) -> ICClassification {
        let snapshot = &mut self.snapshot;
        snapshot.purpose_vector = alignments;
        snapshot.append_to_trajectory(alignments);
        snapshot.kuramoto_phases = advance(&snapshot.kuramoto_phases, &alignments, snapshot.coupling);
        let ic = ICMonitor::with_threshold(snapshot.crisis_threshold).update(snapshot);
        snapshot.last_ic = ic.value;
        snapshot.integration = narrow(order_parameter(&snapshot.kuramoto_phases));
        snapshot.differentiation = differentiation(&alignments);
        snapshot.reflection = reflection(self.forecaster.forecast(), ic.value);
        snapshot.consciousness =
            consciousness(snapshot.integration, snapshot.reflection, snapshot.differentiation);
        self.forecaster = self.forecaster.observe(ic.value);
        ic
    }

    fn state(&self) -> ConsciousnessState {
        ConsciousnessState::from_snapshot(&self.snapshot)
    }
}

#[test]
fn steady_work_is_healthy_open_and_foreseen() {
    let mut session = Session::new();
    let ic = (0..30).map(|_| session.observe([0.95; KURAMOTO_N])).last().unwrap();
    let state = session.state();
    assert_eq!((ic.level, ic.crisis_triggered), (ICLevel::Healthy, false));
    assert_eq!(state.johari_quadrant, JohariQuadrant::Open);
    assert!(state.integration > 0.95 && state.reflection > 0.99 && state.consciousness > 0.95, "{state:?}");
}

#[test]
fn drift_is_a_crisis_comes_as_a_surprise_and_passes() {
    let mut session = Session::new();
    for _ in 0..30 {
        session.observe([0.95; KURAMOTO_N]);
    }
    session.observe([0.05; KURAMOTO_N]);
    assert!(session.state().reflection < 0.75, "{:?}", session.state());

    let drifted = (0..10).map(|_| session.observe([0.05; KURAMOTO_N])).last().unwrap();
    assert_eq!((drifted.level, drifted.crisis_triggered), (ICLevel::Critical, true));
    assert_ne!(session.state().johari_quadrant, JohariQuadrant::Open);

    let back = (0..12).map(|_| session.observe([0.95; KURAMOTO_N])).last().unwrap();
    assert_eq!((back.level, back.crisis_triggered), (ICLevel::Healthy, false));
    assert_eq!(session.state().johari_quadrant, JohariQuadrant::Open);
}

#[test]
fn every_machine_gets_these_bits() {
    let mut session = Session::new();
    for event in 0..300u16 {
        session.observe(std::array::from_fn(|view| {
            f32::from((event * 29 + u16::try_from(view).unwrap() * 13) % 61) / 60.0
        }));
    }
    let snapshot = &session.snapshot;
    let measures = [
        snapshot.last_ic,
        snapshot.integration,
        snapshot.reflection,
        snapshot.differentiation,
        snapshot.consciousness,
        session.forecaster.forecast(),
    ];
    // These change with the weights, the knots and the other parameters, and with nothing else.
    let bits = [1_054_290_284, 1_061_563_365, 1_064_904_304, 1_063_792_058, 1_063_353_062, 1_054_346_013];
    assert_eq!(measures.map(f32::to_bits), bits);
}

proptest! {
    #[test]
    fn whatever_the_views_say_the_state_is_in_range(
        events in prop::collection::vec(any_vector(), 1..80),
    ) {
        let mut session = Session::new();
        for alignments in events {
            session.observe(alignments);
            let s = session.state();
            for measure in [s.consciousness, s.integration, s.reflection, s.differentiation, s.identity_continuity] {
                prop_assert!((0.0..=1.0).contains(&measure), "{s:?}");
            }
        }
        session.snapshot.purpose_vector = [0.0; KURAMOTO_N];
        prop_assert!(session.snapshot.is_sane());
    }

    #[test]
    fn the_same_events_give_the_same_session(events in prop::collection::vec(uniform13(0.0..=1.0f32), 0..60)) {
        let (mut one, mut other) = (Session::new(), Session::new());
        for alignments in events {
 one.observe(alignments);
 other.observe(alignments);
}
        let bytes = |session: &Session| postcard::to_stdvec(&session.snapshot).unwrap();
        prop_assert_eq!(bytes(&one), bytes(&other));
    }
}
