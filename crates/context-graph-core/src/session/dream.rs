//! A dream: how a session in a crisis, or at its end, returns to its purpose.
//!
//! Vectors that had lost the purpose are dropped from the trajectory, the purpose vector becomes the mean of
//! the others, and the crisis ends. The measured continuity does not change: a session that continues to drift
//! continues to measure low. A dream is recorded like any event.

use context_graph_events::Event;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Session;
use super::own_events::{content, own_event};
use crate::gwt::fusion::Model;
use crate::gwt::lifecycle::Transition;
use crate::gwt::numeric::narrow;
use crate::gwt::session_identity::KURAMOTO_N;

/// The shortest time between two dreams of a crisis.
pub const DREAM_COOLDOWN_MS: i64 = 60_000;

/// The name of the event for a dream. The client has no event of this name.
pub const DREAM_RECORDED: &str = "context-graph:dream";

/// Why a session dreamt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DreamCause {
    /// Continuity fell below the crisis threshold.
    Drift,
    /// The session is in a loop.
    Loop,
    /// The session ends.
    End,
}

impl DreamCause {
    /// The cause in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Drift => "continuity was lost",
            Self::Loop => "the session repeated itself",
            Self::End => "the session ended",
        }
    }
}

/// A dream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dream {
    /// When.
    pub at_ms: i64,
    /// Why.
    pub cause: DreamCause,
    /// Continuity at the time.
    pub ic: f32,
    /// Vectors kept in the trajectory.
    pub kept: u32,
    /// Vectors dropped from it.
    pub dropped: u32,
}

impl Dream {
    /// The dream in a few words, without the number of vectors; `consciousness` shows that.
    pub fn words(&self) -> String {
        format!("{} at {:.2}", self.cause.words(), self.ic)
    }
}

impl Session {
    /// Dreams if the session ends, loops or is in a crisis; in a loop or crisis not too soon after the last dream.
    pub(super) fn dream_if_due(&mut self, at_ms: i64, ends: bool) -> Option<Dream> {
        let cause = if ends {
            DreamCause::End
        } else if self.state.looping.is_some() {
            DreamCause::Loop
        } else if self.classification().crisis_triggered {
            DreamCause::Drift
        } else {
            return None;
        };
        let rested = |last: i64| at_ms.saturating_sub(last) >= DREAM_COOLDOWN_MS;
        let due = match cause {
            DreamCause::End => !self.snapshot.trajectory.is_empty(),
            DreamCause::Drift | DreamCause::Loop => {
                self.state.last_dream.is_none_or(|last| rested(last.at_ms))
            }
        };
        due.then(|| self.dream(cause, at_ms))
    }

    fn dream(&mut self, cause: DreamCause, at_ms: i64) -> Dream {
        self.moved(Transition::DreamStarted);
        let model = Model::built_in();
        let threshold = self.snapshot.crisis_threshold;
        let trajectory = &mut self.snapshot.trajectory;
        let before = trajectory.len();
        trajectory.retain(|vector| model.ic(model.score(vector)) >= threshold);
        if let Some(mean) = mean(trajectory) {
            self.snapshot.purpose_vector = mean;
        }
        let (kept, dropped) = (self.snapshot.trajectory.len(), before - self.snapshot.trajectory.len());
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let ic = self.snapshot.last_ic;
        let dream = Dream { at_ms, cause, ic, kept: count(kept), dropped: count(dropped) };
        self.state.last_dream = Some(dream);
        self.state.unlogged_dream = Some(dream);
        self.state.counters.dreams += 1;
        self.moved(Transition::DreamComplete);
        dream
    }

    /// A dream that is not recorded yet, as an event.
    pub fn dream_to_log(&self) -> Option<Event> {
        let dream = self.state.unlogged_dream?;
        Some(own_event(DREAM_RECORDED, &self.snapshot.session_id, "dream", json!(dream)))
    }
}

/// The dream in such an event.
pub fn dream_of(event: &Event) -> Option<Dream> {
    content(event, DREAM_RECORDED, "dream")
}

fn mean(vectors: &[[f32; KURAMOTO_N]]) -> Option<[f32; KURAMOTO_N]> {
    let count = f64::from(u32::try_from(vectors.len()).ok().filter(|n| *n > 0)?);
    Some(std::array::from_fn(|view| {
        let sum: f64 = vectors.iter().map(|vector| f64::from(vector[view])).sum();
        narrow(sum / count)
    }))
}
