//! From thirteen alignments to one number: weights, smoothing, calibration.

use super::calibration::{Calibration, Knot};
use super::numeric::{narrow, unit};
use super::session_identity::KURAMOTO_N;

// Written by `examples/fit_continuity`.
include!("../../data/continuity.rs");

/// The newest event's share in the smoothed score.
pub const SMOOTHING: f64 = 0.35;

/// Weights of the views and the map from a score to an IC.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// How much each view counts, E1 first; none is negative.
    pub weights: [f32; KURAMOTO_N],
    /// Scores and their ICs; see [`Calibration`].
    pub knots: Vec<Knot>,
}

impl Model {
    /// The model that was fitted on real sessions.
    pub fn built_in() -> Self {
        Self { weights: VIEW_WEIGHTS, knots: KNOTS.to_vec() }
    }

    /// The score of one purpose vector: its weighted mean.
    pub fn score(&self, purpose_vector: &[f32; KURAMOTO_N]) -> f64 {
        score(&self.weights, purpose_vector)
    }

    /// The IC of a smoothed score.
    pub fn ic(&self, smoothed: f64) -> f32 {
        ic(&self.knots, smoothed)
    }
}

/// The smoothed score after an event whose score is `score`.
pub fn smooth(before: Option<f64>, score: f64) -> f64 {
    before.map_or(score, |before| before + SMOOTHING * (score - before))
}

/// The score of one purpose vector under the fitted weights.
pub(crate) fn fitted_score(purpose_vector: &[f32; KURAMOTO_N]) -> f64 {
    score(&VIEW_WEIGHTS, purpose_vector)
}

/// The IC of a smoothed score under the fitted knots.
pub(crate) fn fitted_ic(smoothed: f64) -> f32 {
    ic(&KNOTS, smoothed)
}

fn score(weights: &[f32; KURAMOTO_N], purpose_vector: &[f32; KURAMOTO_N]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (&alignment, &weight) in purpose_vector.iter().zip(weights) {
        sum += f64::from(weight) * f64::from(unit(alignment));
        total += f64::from(weight);
    }
    if total > 0.0 { sum / total } else { 1.0 }
}

fn ic(knots: &[Knot], smoothed: f64) -> f32 {
    let score = narrow(smoothed);
    Calibration::new(knots).map_or(score, |calibration| calibration.apply(score))
}
