//! Identity continuity: how far the newest work still serves the session's purpose.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::fusion;
use super::numeric::unit;
use super::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// At or above this the IC is healthy.
pub const IC_HEALTHY_THRESHOLD: f32 = 0.9;

/// Below this the IC is a warning.
pub const IC_WARNING_THRESHOLD: f32 = 0.7;

/// Below this the IC is critical, and by default a dream is due.
pub const IC_CRITICAL_THRESHOLD: f32 = 0.5;

/// What an IC means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ICLevel {
    /// 0.9 or above.
    Healthy,
    /// From 0.7 to below 0.9.
    Normal,
    /// From 0.5 to below 0.7.
    Warning,
    /// Below 0.5, or not a number.
    Critical,
}

impl ICLevel {
    /// The level of an IC.
    pub fn from_value(ic: f32) -> Self {
        if ic >= IC_HEALTHY_THRESHOLD {
            Self::Healthy
        } else if ic >= IC_WARNING_THRESHOLD {
            Self::Normal
        } else if ic >= IC_CRITICAL_THRESHOLD {
            Self::Warning
        } else {
            Self::Critical
        }
    }

    /// The name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for ICLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An IC with its level, and whether it is a crisis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ICClassification {
    /// The IC, in `[0, 1]`.
    pub value: f32,
    /// Its level.
    pub level: ICLevel,
    /// Whether it is below the crisis threshold.
    pub crisis_triggered: bool,
}

impl ICClassification {
    /// Classifies an IC. An IC that is not finite counts as 0; a threshold that is not finite becomes the
    /// default.
    pub fn new(value: f32, crisis_threshold: f32) -> Self {
        let value = unit(value);
        let crisis_triggered = value < usable_threshold(crisis_threshold);
        Self { value, level: ICLevel::from_value(value), crisis_triggered }
    }
}

/// Tracks the IC and remembers a crisis until it is reset.
#[derive(Debug, Clone, PartialEq)]
pub struct ICMonitor {
    current_ic: f32,
    crisis_threshold: f32,
    crisis_triggered: bool,
}

impl ICMonitor {
    /// A monitor of a session that has not drifted, with the default crisis threshold.
    pub fn new() -> Self {
        Self::with_threshold(IC_CRITICAL_THRESHOLD)
    }

    /// A monitor with its own crisis threshold, clamped to `[0, 1]`; the default if it is not finite.
    ///
    /// The monitor always uses this threshold. To use the one that a session stores, pass
    /// `snapshot.crisis_threshold`.
    pub fn with_threshold(crisis_threshold: f32) -> Self {
        Self {
            current_ic: 1.0,
            crisis_threshold: usable_threshold(crisis_threshold),
            crisis_triggered: false,
        }
    }

    /// Computes the IC of the snapshot's trajectory and classifies it.
    ///
    /// The result describes this moment only; [`Self::is_crisis`] also remembers earlier ones.
    pub fn update(&mut self, snapshot: &SessionIdentitySnapshot) -> ICClassification {
        self.observe(Self::compute_ic(&snapshot.trajectory))
    }

    /// A monitor with the stored state of a session.
    pub fn of(snapshot: &SessionIdentitySnapshot) -> Self {
        let mut monitor = Self::with_threshold(snapshot.crisis_threshold);
        monitor.observe(snapshot.last_ic);
        monitor
    }

    /// The newest IC, classified.
    pub fn classification(&self) -> ICClassification {
        ICClassification::new(self.current_ic, self.crisis_threshold)
    }

    /// Takes a known IC and classifies it. Sessions use this: a dream drops vectors from the trajectory and
    /// leaves the IC as it is.
    pub fn observe(&mut self, ic: f32) -> ICClassification {
        let classification = ICClassification::new(ic, self.crisis_threshold);
        self.current_ic = classification.value;
        self.crisis_triggered |= classification.crisis_triggered;
        classification
    }

    /// The IC of a trajectory (oldest vector first), in `[0, 1]`.
    ///
    /// Each vector's score is the mean of its alignments, weighted by [`fusion::VIEW_WEIGHTS`]. Scores are smoothed
    /// exponentially from the oldest to the newest and mapped by [`fusion::KNOTS`]. An empty trajectory
    /// gives 1: nothing has drifted yet.
    ///
    /// The cosine of successive vectors is not used: it compares one moment with the next and not with the
    /// purpose. On real sessions it hardly separated drift from work.
    pub fn compute_ic(trajectory: &[[f32; KURAMOTO_N]]) -> f32 {
        trajectory
            .iter()
            .map(fusion::fitted_score)
            .fold(None, |smoothed, score| Some(fusion::smooth(smoothed, score)))
            .map_or(1.0, fusion::fitted_ic)
    }

    /// The newest IC.
    pub fn current(&self) -> f32 {
        self.current_ic
    }

    /// Whether the crisis threshold was breached since the last reset.
    pub fn is_crisis(&self) -> bool {
        self.crisis_triggered
    }

    /// Forgets the crisis, after a dream.
    pub fn reset_crisis(&mut self) {
        self.crisis_triggered = false;
    }
}

impl Default for ICMonitor {
    fn default() -> Self {
        Self::new()
    }
}

/// `threshold` in `[0, 1]`, or the default if it is not finite.
pub(crate) fn usable_threshold(threshold: f32) -> f32 {
    if threshold.is_finite() { unit(threshold) } else { IC_CRITICAL_THRESHOLD }
}
