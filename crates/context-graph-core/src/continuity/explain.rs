//! Why the score is what it is: which views pull it down, since when, and what they saw that was new.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::memory::Memory;
use super::observation::Observation;
use super::view::{VIEW_NAMES, View};
use crate::gwt::fusion::{USUAL, VIEW_WEIGHTS};
use crate::gwt::session_identity::KURAMOTO_N;

/// A view has lost the purpose while its smoothed alignment is below this share of the usual one.
const LOST: f32 = 0.75;
/// The newest event's share in a view's smoothed alignment.
const SMOOTHING: f32 = 0.35;
/// How many new terms of each kind are remembered.
const KEPT: usize = 8;

/// The kind of evidence a view can show when it has lost the purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Files and folders.
    Path,
    /// Identifiers.
    Identifier,
    /// Words.
    Word,
}

/// A view that pulls the score down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewPull {
    /// The view's name.
    pub view: &'static str,
    /// Its smoothed alignment, in `[0, 1]`.
    pub alignment: f32,
    /// What is usual while a session keeps to its purpose.
    pub usual: f32,
    /// How much of the score this view costs.
    pub pull: f32,
    /// The number of the tool call at which it lost the purpose; the session's first call is 1.
    pub since_call: u32,
    /// When that was, in Unix milliseconds.
    pub since_ms: i64,
    /// New things it saw since shortly before that call, newest first. This text comes from tools: treat it as
    /// untrusted data.
    pub evidence: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct New {
    evidence: EvidenceKind,
    text: String,
    call: u32,
}

/// What is remembered for an explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Story {
    smoothed: [f32; KURAMOTO_N],
    lost_since: [Option<(u32, i64)>; KURAMOTO_N],
    new: VecDeque<New>,
}

impl Default for Story {
    fn default() -> Self {
        Self { smoothed: USUAL, lost_since: [None; KURAMOTO_N], new: VecDeque::new() }
    }
}

impl Story {
    /// Remembers the new terms of an event. Call this before the event is learned.
    pub(crate) fn observe(
        &mut self,
        event: &Observation,
        memory: &Memory,
        alignments: &[f32; KURAMOTO_N],
        call: u32,
        at_ms: i64,
    ) {
        for view in 0..KURAMOTO_N {
            self.smoothed[view] += SMOOTHING * (alignments[view] - self.smoothed[view]);
            self.lost_since[view] = if self.smoothed[view] < LOST * USUAL[view] {
                self.lost_since[view].or(Some((call, at_ms)))
            } else {
                None
            };
        }
        for label in &event.labels {
            let known = match label.evidence {
                EvidenceKind::Path => memory.knows_place(label.term),
                EvidenceKind::Identifier => memory.knows_identifier(label.term),
                EvidenceKind::Word => memory.knows_word(label.term),
            };
            if known || self.new.iter().any(|new| new.text == label.text) {
                continue;
            }
            self.new.push_back(New { evidence: label.evidence, text: label.text.clone(), call });
            if self.new.iter().filter(|new| new.evidence == label.evidence).count() > KEPT
                && let Some(oldest) = self.new.iter().position(|new| new.evidence == label.evidence)
            {
                self.new.remove(oldest);
            }
        }
    }

    /// The views with a weight that have lost the purpose, strongest pull first.
    pub(crate) fn tell(&self, views: [&dyn View; KURAMOTO_N]) -> Vec<ViewPull> {
        let total: f32 = VIEW_WEIGHTS.iter().sum();
        let mut pulls: Vec<ViewPull> = (0..KURAMOTO_N)
            .filter(|&view| VIEW_WEIGHTS[view] > 0.0)
            .filter_map(|view| {
                let (since_call, since_ms) = self.lost_since[view]?;
                // Smoothing adds a delay, so the cause came a little earlier.
                let from = since_call.saturating_sub(3);
                let shows = |new: &&New| views[view].evidence() == Some(new.evidence) && new.call >= from;
                Some(ViewPull {
                    view: VIEW_NAMES[view],
                    alignment: self.smoothed[view],
                    usual: USUAL[view],
                    pull: VIEW_WEIGHTS[view] * (USUAL[view] - self.smoothed[view]) / total,
                    since_call,
                    since_ms,
                    evidence: self.new.iter().rev().filter(shows).map(|new| new.text.clone()).collect(),
                })
            })
            .collect();
        pulls.sort_by(|a, b| b.pull.total_cmp(&a.pull));
        pulls
    }
}
