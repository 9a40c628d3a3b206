//! `context-graph`: one native binary behind every Claude Code hook.
//!
//! This crate is the edge: arguments, environment, clock, stdin and stdout. Code that another program could
//! use is in the crates below it.

use std::ffi::OsString;
use std::time::Instant;

mod actions;
mod client;
mod clock;
pub mod commands;
mod config;
mod cost;
mod crash;
mod environment;
mod error_code;
mod exit_status;
mod explain;
mod heads;
mod heap;
mod help_text;
mod installed;
mod interrupt;
mod paths;
mod process;
mod progress;
mod rules;
mod scratch;
mod settings_file;
mod suggest;
mod summary;
mod table;
mod team_policy;
mod terminal;
mod time;
mod timings;
mod transcript_files;
mod trust;
mod unix_signals;
mod upkeep;
mod visible_json;
mod watchdog;

#[doc(hidden)]
pub use commands::is_understood;
pub use config::schema as config_schema;
pub use context_graph_policy::config::schema as policy_schema;
pub use environment::Environment;
pub use error_code::ErrorCode;
pub use exit_status::ExitStatus;

/// Runs the command line of this process. The first argument is the program's name.
pub fn main(args: &[OsString]) -> ExitStatus {
    let started = Instant::now();
    commands::run(args, started)
}
