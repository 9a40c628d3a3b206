//! The session as a value, computed from its events.
//!
//! [`session::Session::step`] applies one event to a session and returns a report. It has no other input and no side
//! effects, so everything here can be replayed, and gives the same bits on every machine: sums have a fixed order, no
//! hash map is iterated, and the transcendental functions are our own (see [`gwt::trig`] and [`gwt::numeric`]),
//! because those of the platform may differ in the last digit.
//!
//! No I/O, no clock, no environment and no randomness here: time and identifiers are arguments.

pub mod audit;
pub mod continuity;
pub mod gwt;
pub mod session;
