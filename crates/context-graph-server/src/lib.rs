//! The team server: records of many machines in PostgreSQL or SQLite, pages, members and policy. Also the
//! client that machines push with.
//!
//! This crate has HTTP and the database behind it. It must not have anything that a hook needs.

mod aside;
#[cfg(unix)]
pub mod bench;
pub mod client;
pub mod db;
mod http;
mod ingest;
pub mod keys;
mod manage;
pub mod members;
pub mod policy;
mod reached;
mod records;
pub mod schema;
mod serve;
mod session_row;
pub mod wire;
mod word_index;

pub use aside::forget_by_id;
pub use ingest::{PushError, take_in};
pub use manage::is_name;
pub use records::TeamRecords;
pub use serve::{Listening, Patience, Serving};
