//! Tests that wait or take seconds. They are in one program so that they run side by side.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod actions;
mod bounded_memory;
mod demo;
mod late;
mod policy_hostile;
mod stop_gates;
