//! The team server: records of many machines in PostgreSQL or SQLite, pages, members and policy. Also the
//! client that machines push with.
//!
//! This crate has HTTP and the database behind it. It must not have anything that a hook needs.
//!
//! Words: a *team* (`tenant` in the tables) shares records on one server, a *member* is a person in it, a *machine* a
//! computer with its own key. The *standing* of a session says how far the server's copy of it goes.

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
mod reaches_back;
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
