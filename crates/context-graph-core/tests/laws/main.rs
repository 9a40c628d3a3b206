//! What holds for every session, seen from outside the crate.

mod ic_monitor;
mod kuramoto;
mod lifecycle;
mod snapshot;
#[path = "../../src/gwt/testing.rs"]
mod testing;
