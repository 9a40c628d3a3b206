//! `audit export`: the records in four formats, read by other programs.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod otlp;
mod sqlite;
mod stage;
mod text;
