//! The real Codex, Copilot CLI and Gemini CLI with our hooks and a scripted model: do they honour our decisions?
//!
//! The tests of a client that is not installed are reported as ignored. `tests/agents/install-agents` installs the
//! clients.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, clippy::disallowed_methods, reason = "a program of its own")]

mod clients;
#[path = "../e2e/harness.rs"]
#[allow(
    unused_macros,
    unused_imports,
    reason = "its macro names tests after functions; these have a client each"
)]
mod harness;
mod lab;
mod model;
mod scenarios;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::run(scenarios::all()).exit_code()
}
