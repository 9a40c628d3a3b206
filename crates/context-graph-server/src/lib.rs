//! The team server: records of many machines in PostgreSQL or SQLite, the pages over them, members, policy; and the client
//! that machines push with.
//!
//! What lives here: HTTP in, the database behind it. What may not: anything that a hook needs.

mod aside;
pub mod client;
pub mod db;
mod http;
mod ingest;
pub mod keys;
pub mod members;
mod records;
pub mod schema;
mod serve;
pub mod wire;

pub use aside::forget_by_id;
pub use ingest::{PushError, take_in};
pub use records::TeamRecords;
pub use serve::{Listening, Serving};
