//! Hostile repositories: each is built here, used through the real binary, and must not succeed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod agents;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod doctor;
mod evidence;
mod home;
mod keys;
mod links;
mod stage;
mod state;
mod tracked;
mod voice;
mod waits;
mod writes;
