//! `audit export`: what was recorded, in four formats, as other programs read it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod files;
mod otlp;
mod sqlite;
mod stage;
mod text;
