//! Properties of every session, tested through the public interface.

mod ic_monitor;
mod kuramoto;
mod lifecycle;
mod snapshot;
#[path = "../../src/gwt/testing.rs"]
mod testing;
