//! The real Codex, Copilot CLI and Gemini CLI, our binary on their hooks, a scripted model: does a refusal refuse?
//!
//! Where a client is not installed its tests are counted as ignored; `tests/agents/install-agents` installs them.
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
