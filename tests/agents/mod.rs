//! The real Codex, Copilot CLI and Gemini CLI with our hooks and a scripted model: do they honour our decisions?
//!
//! The tests of a client that is not installed are reported as ignored. `tests/agents/install-agents` installs the
//! clients.

mod clients;
mod lab;
mod model;
mod scenarios;
mod wire;

pub use scenarios::all;
