//! The snapshot: the small part of a session that is rewritten at every event.

use serde::{Deserialize, Serialize};

use crate::gwt::cross_session::{NEUTRAL_CROSS_SESSION_IC, cross_session_ic};
use crate::gwt::ic_monitor::{IC_CRITICAL_THRESHOLD, usable_threshold};
use crate::gwt::kuramoto::{DEFAULT_COUPLING, INITIAL_PHASES, usable_coupling};
use crate::gwt::numeric::unit;
use crate::gwt::trig::wrap;

/// How many purpose vectors the trajectory keeps.
pub const MAX_TRAJECTORY_LEN: usize = 50;

/// The number of views, and so of oscillators and of components of a purpose vector.
pub const KURAMOTO_N: usize = 13;

/// A session's identity, flat for fast encoding: about 200 bytes and a trajectory of at most 2,600.
///
/// The order of the fields is the order of the bytes on disk.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct SessionIdentitySnapshot {
    /// The session's id, as given by the client.
    pub session_id: String,
    /// When the session was last touched, in Unix milliseconds.
    pub timestamp_ms: i64,
    /// The session that this one continues.
    pub previous_session_id: Option<String>,
    /// How alike the purpose is to that of the previous session, in `[0, 1]`.
    pub cross_session_ic: f32,

    /// The oscillators' phases, in `[0, 2π)`.
    pub kuramoto_phases: [f64; KURAMOTO_N],
    /// The oscillators' coupling strength.
    pub coupling: f64,

    /// The newest alignments of the thirteen views, each in `[0, 1]`.
    pub purpose_vector: [f32; KURAMOTO_N],

    /// The newest purpose vectors, oldest first, at most [`MAX_TRAJECTORY_LEN`].
    pub trajectory: Vec<[f32; KURAMOTO_N]>,

    /// The newest identity continuity, in `[0, 1]`.
    pub last_ic: f32,
    /// The identity continuity below which a dream is due.
    pub crisis_threshold: f32,

    /// Consciousness, in `[0, 1]`.
    pub consciousness: f32,
    /// Integration: the oscillators' order parameter, in `[0, 1]`.
    pub integration: f32,
    /// Reflection: how good the forecasts are, in `[0, 1]`.
    pub reflection: f32,
    /// Differentiation: how evenly alignment is spread over the views, in `[0, 1]`.
    pub differentiation: f32,
}

impl SessionIdentitySnapshot {
    /// A new session at time 0. This crate reads no clock: see [`Self::with_timestamp`].
    ///
    /// Nothing has drifted yet, so the IC is 1. Nothing has been measured yet, so integration, reflection,
    /// differentiation and consciousness are 0. Nothing has been compared yet, so the cross-session IC is
    /// neutral.
    pub fn new(session_id: impl Into<String>) -> Self {
        Self::with_timestamp(session_id, 0)
    }

    /// A new session at the given time, in Unix milliseconds.
    pub fn with_timestamp(session_id: impl Into<String>, timestamp_ms: i64) -> Self {
        Self {
            session_id: session_id.into(),
            timestamp_ms,
            previous_session_id: None,
            cross_session_ic: NEUTRAL_CROSS_SESSION_IC,
            kuramoto_phases: INITIAL_PHASES,
            coupling: DEFAULT_COUPLING,
            purpose_vector: [0.0; KURAMOTO_N],
            trajectory: Vec::new(),
            last_ic: 1.0,
            crisis_threshold: IC_CRITICAL_THRESHOLD,
            consciousness: 0.0,
            integration: 0.0,
            reflection: 0.0,
            differentiation: 0.0,
        }
    }

    /// Appends a purpose vector to the trajectory and drops the oldest beyond [`MAX_TRAJECTORY_LEN`].
    ///
    /// Components are clamped to `[0, 1]`; one that is not finite is stored as 0. The field `purpose_vector` is
    /// not changed.
    pub fn append_to_trajectory(&mut self, pv: [f32; KURAMOTO_N]) {
        self.trajectory.push(pv.map(unit));
        self.drop_oldest();
    }

    /// Adds a scored result: its purpose vector and the new IC.
    pub fn update_ic_and_trajectory(&mut self, purpose_vector: [f32; KURAMOTO_N], ic: f32) {
        self.append_to_trajectory(purpose_vector);
        self.align(purpose_vector, ic);
    }

    /// Sets the current purpose vector and IC without adding to the trajectory.
    pub fn align(&mut self, purpose_vector: [f32; KURAMOTO_N], ic: f32) {
        self.purpose_vector = purpose_vector;
        self.last_ic = unit(ic);
    }

    /// Links this session to a previous one, and sets how alike their purposes are.
    pub fn link(&mut self, previous_id: impl Into<String>, previous_purpose: &[f32; KURAMOTO_N]) {
        self.previous_session_id = Some(previous_id.into());
        self.compare(previous_purpose);
    }

    /// Updates how alike its purpose is to that of the previous session.
    pub fn compare(&mut self, previous_purpose: &[f32; KURAMOTO_N]) {
        self.cross_session_ic = cross_session_ic(&self.purpose_vector, previous_purpose);
    }

    /// An upper bound of the encoded size in bytes, at most 64 above the real size.
    #[inline]
    pub fn estimated_size(&self) -> usize {
        /// Numbers of variable length (the time, three lengths) and the tag of the optional id.
        const VARIABLE: usize = 4 * 10 + 1;
        const FIXED: usize = size_of::<f64>() * (KURAMOTO_N + 1) + size_of::<f32>() * (KURAMOTO_N + 7);

        VARIABLE
            + FIXED
            + self.session_id.len()
            + self.previous_session_id.as_ref().map_or(0, |id| id.len() + 10)
            + self.trajectory.len() * KURAMOTO_N * size_of::<f32>()
    }

    /// The name of the first field with a number that is not finite or out of range, or with too many entries.
    #[expect(clippy::float_cmp, reason = "a number that was brought into its range is the same or it is not")]
    pub fn first_invalid_field(&self) -> Option<&'static str> {
        let valid = self.clone().sanitised();
        // Comparisons with NaN are false, which is what we need here.
        let fields: [(&'static str, bool); 11] = [
            ("cross_session_ic", self.cross_session_ic == valid.cross_session_ic),
            ("kuramoto_phases", self.kuramoto_phases == valid.kuramoto_phases),
            ("coupling", self.coupling == valid.coupling),
            ("purpose_vector", self.purpose_vector == valid.purpose_vector),
            ("trajectory", self.trajectory == valid.trajectory),
            ("last_ic", self.last_ic == valid.last_ic),
            ("crisis_threshold", self.crisis_threshold == valid.crisis_threshold),
            ("consciousness", self.consciousness == valid.consciousness),
            ("integration", self.integration == valid.integration),
            ("reflection", self.reflection == valid.reflection),
            ("differentiation", self.differentiation == valid.differentiation),
        ];
        fields.into_iter().find(|(_, is_valid)| !is_valid).map(|(name, _)| name)
    }

    /// The snapshot with every number brought into range: data read from disk may hold anything.
    ///
    /// Parameters that are not finite become their default. Measures that are not finite become 0, the IC too:
    /// a broken measurement must not look healthy.
    #[must_use]
    pub fn sanitised(mut self) -> Self {
        self.cross_session_ic = unit(self.cross_session_ic);
        self.kuramoto_phases = self.kuramoto_phases.map(wrap);
        self.coupling = usable_coupling(self.coupling);
        self.purpose_vector = self.purpose_vector.map(unit);
        self.drop_oldest();
        for pv in &mut self.trajectory {
            *pv = pv.map(unit);
        }
        self.last_ic = unit(self.last_ic);
        self.crisis_threshold = usable_threshold(self.crisis_threshold);
        self.consciousness = unit(self.consciousness);
        self.integration = unit(self.integration);
        self.reflection = unit(self.reflection);
        self.differentiation = unit(self.differentiation);
        self
    }

    fn drop_oldest(&mut self) {
        let excess = self.trajectory.len().saturating_sub(MAX_TRAJECTORY_LEN);
        self.trajectory.drain(..excess);
    }
}

impl Default for SessionIdentitySnapshot {
    /// A new session with an empty id. This crate uses no randomness, so the caller sets the id.
    fn default() -> Self {
        Self::new(String::new())
    }
}
