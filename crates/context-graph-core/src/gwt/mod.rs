//! Measures of a session's identity, with names from global workspace theory.
//!
//! Thirteen *views* each compare the newest event with the session's purpose and return an alignment in
//! `[0, 1]`. The thirteen alignments are the purpose vector, the newest vectors are the trajectory, and all other
//! measures are computed from these:
//!
//! | name | what is measured | module |
//! |---|---|---|
//! | identity continuity (IC) | smoothed, weighted alignment with the purpose | [`ic_monitor`] |
//! | integration | phase synchrony of thirteen oscillators that alignment couples | [`kuramoto`] |
//! | differentiation | how evenly alignment is spread over the views | [`consciousness`] |
//! | reflection | how much better the next call is predicted than by guessing | [`consciousness`], [`forecast`] |
//! | consciousness | geometric mean of the last three | [`consciousness`] |
//! | Johari quadrant | consciousness and integration, each high or low | [`johari`] |
//! | cross-session IC | likeness of two sessions' stored purpose vectors | [`cross_session`] |
//!
//! These are names for measured numbers; nothing more is claimed.

pub mod calibration;
pub mod consciousness;
pub mod cross_session;
pub mod forecast;
pub mod fusion;
pub mod ic_monitor;
pub mod johari;
pub mod kuramoto;
pub mod lifecycle;
pub mod numeric;
pub mod session_identity;
pub mod trig;

#[cfg(test)]
mod testing;
