//! What is kept of a session between two events.

pub mod types;

pub use types::{KURAMOTO_N, MAX_TRAJECTORY_LEN, SessionIdentitySnapshot};
