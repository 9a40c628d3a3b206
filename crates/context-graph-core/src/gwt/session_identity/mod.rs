//! The part of a session that is kept between two events.

pub mod types;

pub use types::{KURAMOTO_N, MAX_TRAJECTORY_LEN, SessionIdentitySnapshot};
