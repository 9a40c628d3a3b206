//! The session as a pure fold over its events.
//!
//! A session is a value; what happens to it is a function from that value and an observation to the next value.
//! Everything here can therefore be replayed, and gives the same bits on every machine: sums run in a fixed
//! order, no hash map is walked, and the transcendental functions are our own (see [`gwt::trig`] and
//! [`gwt::numeric`]) because those of the platform may differ in the last place.
//!
//! No I/O, no clock, no environment and no randomness live here: time and identifiers are arguments.

pub mod audit;
pub mod continuity;
pub mod gwt;
pub mod session;
