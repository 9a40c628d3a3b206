//! The session as a value, computed from its events.
//!
//! [`session::Session::step`] applies one event to a session and returns a report. It has no other input and no side
//! effects, so everything here can be replayed, and gives the same bits on every machine: sums have a fixed order, no
//! hash map is iterated, and the transcendental functions are our own (see [`gwt::trig`] and [`gwt::numeric`]),
//! because those of the platform may differ in the last digit.
//!
//! No I/O, no clock, no environment and no randomness here: time and identifiers are arguments.
//!
//! Words: a *view* is one of thirteen comparisons of the newest event with the session's purpose. *Continuity* (IC) says,
//! from all views, how well the latest work fits the purpose. A *crisis* is continuity below the configured threshold; a
//! *dream* is how a session leaves one: vectors that lost the purpose are dropped, and that is recorded like an event. The
//! *snapshot*, or identity, is the measured part of a session. *gwt* is global workspace theory, from which the measures
//! have their names.

pub mod audit;
pub mod continuity;
pub mod gwt;
pub mod session;
