//! The trait of the thirteen views, and the thirteen together.

use serde::{Deserialize, Serialize};

use super::explain::Evidence;
use super::memory::{Memory, Trace};
use super::observation::Observation;
use super::views;
use crate::gwt::session_identity::KURAMOTO_N;

/// One way to compare a tool's result with what the session has been about.
pub(crate) trait View {
    /// About what this view says of work that keeps to its purpose, in a session that nothing is known of.
    fn usual(&self) -> f32;

    /// The likeness in `[0, 1]`, or `None` if the event has nothing that this view goes by.
    fn compare(&self, event: &Observation, memory: &Memory) -> Option<f32>;

    /// Takes in an event that has waited long enough. Most views go by the shared memory and keep nothing.
    fn learn(&mut self, event: &Trace) {
        let _ = event;
    }

    /// What shows that this view has lost the purpose, if anything can be shown.
    fn evidence(&self) -> Option<Evidence> {
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

/// The views with the state that they keep to themselves.
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

    /// Takes in an event that has waited long enough.
    pub(crate) fn learn(&mut self, event: &Trace) {
        self.periodic.learn(event);
        self.positional.learn(event);
        self.sparse.learn(event);
        self.hyperdimensional.learn(event);
    }
}
