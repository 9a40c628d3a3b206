//! The trait of the thirteen views, and the thirteen together.

use serde::{Deserialize, Serialize};

use super::explain::EvidenceKind;
use super::memory::{Memory, Trace};
use super::observation::Observation;
use super::views;
use crate::gwt::session_identity::KURAMOTO_N;

/// One way to compare a tool's result with what the session has been about.
pub(crate) trait View {
    /// The view's average likeness on work that keeps to its purpose, used until the session has its own.
    fn usual(&self) -> f32;

    /// The likeness in `[0, 1]`, or `None` if the event has no input for this view.
    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32>;

    /// Learns an event that has waited long enough. Most views use the shared memory and keep no state.
    fn learn(&mut self, event: &Trace) {
        let _ = event;
    }

    /// The kind of evidence that shows this view has lost the purpose, if it has one.
    fn evidence(&self) -> Option<EvidenceKind> {
        None
    }
}

/// Names of the views, E1 first.
pub const VIEW_NAMES: [&str; KURAMOTO_N] = [
    "E1 semantic",
    "E2 temporal-recent",
    "E3 temporal-periodic",
    "E4 temporal-positional",
    "E5 causal",
    "E6 sparse",
    "E7 code",
    "E8 graph",
    "E9 hyperdimensional",
    "E10 intent",
    "E11 entity",
    "E12 late interaction",
    "E13 keyword",
];

/// The views that have state of their own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Views {
    periodic: views::Periodic,
    positional: views::Positional,
    sparse: views::Sparse,
    hyperdimensional: views::Hyperdimensional,
}

impl Views {
    /// All views, E1 first.
    pub(crate) fn all(&self) -> [&dyn View; KURAMOTO_N] {
        [
            &views::Semantic,
            &views::Recent,
            &self.periodic,
            &self.positional,
            &views::Causal,
            &self.sparse,
            &views::Code,
            &views::Graph,
            &self.hyperdimensional,
            &views::Intent,
            &views::Entity,
            &views::LateInteraction,
            &views::Keyword,
        ]
    }

    /// Learns an event that has waited long enough.
    pub(crate) fn learn(&mut self, event: &Trace) {
        self.periodic.learn(event);
        self.positional.learn(event);
        self.sparse.learn(event);
        self.hyperdimensional.learn(event);
    }
}
